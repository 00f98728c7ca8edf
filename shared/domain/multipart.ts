import type { EventData, JobEvent } from '../events/registry.ts';
import { refuse } from './job-refusal.ts';
import { TERMINAL_STATUSES, type LiveJob } from './job-state.ts';

/** Size of every part but the last: 25 MiB (§8, D42). */
export const PART_BYTES = 26_214_400;
/** Object stores take no more parts than this; with it no input is larger than 262 GB. */
export const PARTS_MAX = 10_000;
/**
 * How often an upload in parts may be started for one job. Every request reads all events of its job, so what a client
 * can append without end would make each request slower than the one before, for everybody. Nobody who uploads a file
 * discards it so often; the job itself may be created anew.
 */
export const MULTIPART_STARTS_MAX = 20;

/** How a file is cut into parts. */
export type MultipartPlan = EventData<'job.multipart_started'>;

/** What the parts of an upload became. */
export type AssembledFile = EventData<'job.multipart_completed'>;

/** Cuts a file of this size, at least 1, into parts (§2.5). */
export function planMultipart(sizeBytes: number): MultipartPlan {
  return { size_bytes: sizeBytes, part_size: PART_BYTES, parts_expected: Math.ceil(sizeBytes / PART_BYTES) };
}

/** Size of one part: all have the same but the last, which has the rest. */
export function partBytes(plan: MultipartPlan, partNumber: number): number {
  return partNumber < plan.parts_expected ? plan.part_size : plan.size_bytes - plan.part_size * (plan.parts_expected - 1);
}

/** Said again, with whatever size, the upload that was started stays (D43); discarded, it can be started so often and no more. */
export function startMultipart(plan: MultipartPlan, job: LiveJob): JobEvent | null {
  if (job.created.import !== 'upload') throw refuse('not_an_upload', 'The file of this job is fetched from its URL.', job);
  requireWaiting(job);
  if (job.multipart) return null;
  if ((job.multipartStarts ?? 0) >= MULTIPART_STARTS_MAX) throw refuse('too_many_multipart_starts', `An upload in parts was started ${MULTIPART_STARTS_MAX} times for this job. Create a new one.`, job);
  return { type: 'job.multipart_started', data: plan };
}

/** Said again of the same file there is nothing to do, whatever became of the job meanwhile (D45). */
export function completeMultipart(file: AssembledFile, job: LiveJob): JobEvent | null {
  if (!job.multipart) throw notStarted(job);
  if (job.multipart.completed?.etag === file.etag) return null;
  if (job.multipart.completed) throw refuse('already_uploaded', 'The upload was completed with other parts.', job);
  requireWaiting(job);
  return { type: 'job.multipart_completed', data: file };
}

/** Only what is unfinished can be discarded. */
export function abortMultipart(job: LiveJob): JobEvent {
  if (!job.multipart) throw notStarted(job);
  requireUnfinished(job);
  return { type: 'job.multipart_aborted', data: {} };
}

/** Throws `DomainError` unless the job waits for its file and the upload in parts was not completed. */
export function requireUnfinished(job: LiveJob): void {
  requireWaiting(job);
  if (job.multipart?.completed) throw refuse('already_uploaded', 'The upload was completed.', job);
}

function notStarted(job: LiveJob): Error {
  return refuse('multipart_not_started', 'No multipart upload was started for this job.', job);
}

function requireWaiting(job: LiveJob): void {
  if (TERMINAL_STATUSES.has(job.status)) throw refuse('already_terminal', `The job is ${job.status} already.`, job);
  if (job.status !== 'waiting') throw refuse('not_waiting', `The job is ${job.status}; its file is fixed.`, job);
}
