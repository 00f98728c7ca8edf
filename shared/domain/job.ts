import type { EventData, JobEvent } from '../events/registry.ts';
import type { Decider } from './decider.ts';
import { refuse } from './job-refusal.ts';
import { awaitsFile, deadlineOf, evolveJob, initialJob, TERMINAL_STATUSES, type JobState, type LiveJob } from './job-state.ts';
import { abortMultipart, completeMultipart, startMultipart, type AssembledFile, type MultipartPlan } from './multipart.ts';
import { chargeFor, type Usage } from './pricing.ts';

/** How many attempts of a conversion may die; the last of these deaths ends the job (D95). */
const CONVERSION_DEATHS_MAX = 3;
/** How often a conversion may be started in all, those included that were handed back. */
const CONVERSION_ATTEMPTS_MAX = 100;

/** What can be asked of a job. Times are ISO 8601 and come from the caller's clock. */
export type JobCommand =
  | { readonly type: 'create'; readonly data: EventData<'job.created'> }
  | { readonly type: 'start_multipart'; readonly plan: MultipartPlan }
  | { readonly type: 'complete_multipart'; readonly file: AssembledFile }
  | { readonly type: 'abort_multipart' }
  | { readonly type: 'receive_source'; readonly source: EventData<'job.source_received'> }
  | { readonly type: 'start_conversion'; readonly attempt: number; readonly engine: EventData<'job.conversion_started'>['engine']; readonly engine_version: string }
  | { readonly type: 'interrupt_conversion'; readonly attempt: number }
  | { readonly type: 'report_progress'; readonly attempt: number; readonly percent: number }
  | { readonly type: 'finish'; readonly attempt: number; readonly result: EventData<'job.finished'>['result']; readonly billable_ms: number; readonly speed_factor: number; readonly expires_at: string }
  | { readonly type: 'fail'; readonly attempt?: number; readonly error: EventData<'job.failed'>['error'] }
  | { readonly type: 'cancel' }
  | { readonly type: 'expire'; readonly now: string }
  | { readonly type: 'delete' }
  | { readonly type: 'abandon' };

/** The rules of §3: which command is allowed in which status, and what follows from it. */
export const jobDecider: Decider<JobState, JobCommand, JobEvent> = {
  initialState: initialJob,
  evolve: evolveJob,
  decide(command, state) {
    if (command.type === 'create') return create(command.data, state);
    if (command.type === 'abandon') return abandon(state);
    if (state.kind !== 'live') throw refuse('not_found', 'There is no such job.');
    switch (command.type) {
      case 'start_multipart':
        return startMultipart(command.plan, state);
      case 'complete_multipart':
        return completeMultipart(command.file, state);
      case 'abort_multipart':
        return abortMultipart(state);
      case 'receive_source':
        return receiveSource(command.source, state);
      case 'start_conversion':
        return startConversion(command, state);
      case 'interrupt_conversion':
        return interruptConversion(command.attempt, state);
      case 'report_progress':
        return reportProgress(command.attempt, command.percent, state);
      case 'finish':
        return finish(command, state);
      case 'fail':
        return fail(command, state);
      case 'cancel':
        return cancel(state);
      case 'expire':
        return expire(command.now, state);
      case 'delete':
        return remove(state);
      default:
        return assertNever(command);
    }
  },
};

function create(data: EventData<'job.created'>, state: JobState): JobEvent {
  if (state.kind !== 'none') throw refuse('already_exists', 'The job exists already.');
  return { type: 'job.created', data };
}

/**
 * Takes the id of a job out of use before it was created, so that a late `create` is refused and the credits that were
 * held for it can be released (D29, D30). Nothing to do for a job that exists or existed.
 */
function abandon(state: JobState): JobEvent | null {
  return state.kind === 'none' ? { type: 'job.deleted', data: { held_credits_released: true } } : null;
}

/** Once an upload in parts was completed, that file is the source and no other (D46). */
function receiveSource(source: EventData<'job.source_received'>, job: LiveJob): JobEvent {
  if (job.status !== 'waiting') throw refuse('not_waiting', `The job is ${job.status}; its file is fixed.`, job);
  const completed = job.multipart?.completed;
  if (completed && completed.etag !== source.etag) throw refuse('already_uploaded', 'Another file was uploaded in parts.', job);
  return { type: 'job.source_received', data: source };
}

/** Attempt n+1 takes over from attempt n, whose worker is taken for dead; what it still reports is fenced (D37). */
function startConversion(command: Extract<JobCommand, { type: 'start_conversion' }>, job: LiveJob): JobEvent {
  const claimable = job.status === 'queued' || job.status === 'processing';
  if (!claimable) throw refuse('not_queued', `The job is ${job.status}.`, job);
  if (command.attempt !== job.attempt + 1) throw refuse('attempt_fenced', 'Another attempt owns the conversion.', job);
  const { attempt, engine, engine_version } = command;
  return { type: 'job.conversion_started', data: { attempt, engine, engine_version } };
}

/** Only who owns the conversion can hand it back; said twice it is said once. */
function interruptConversion(attempt: number, job: LiveJob): JobEvent | null {
  if (job.interrupted && job.attempt === attempt) return null;
  requireOwner(attempt, job);
  return { type: 'job.conversion_interrupted', data: { attempt } };
}

/** Nothing to say when it is no further than it was: reports may come twice, and in another order. */
function reportProgress(attempt: number, percent: number, job: LiveJob): JobEvent | null {
  requireOwner(attempt, job);
  if (job.interrupted) throw refuse('attempt_fenced', 'The attempt was handed back.', job);
  return percent > (job.progress ?? 0) ? { type: 'job.conversion_progressed', data: { attempt, percent } } : null;
}

/** True when no further attempt may be started, although the last one ended without a result (D37, D95). */
export function isExhausted(job: LiveJob): boolean {
  return job.attempt - job.interruptions >= CONVERSION_DEATHS_MAX || job.attempt >= CONVERSION_ATTEMPTS_MAX;
}

function finish(command: Extract<JobCommand, { type: 'finish' }>, job: LiveJob): JobEvent {
  requireOwner(command.attempt, job);
  if (job.interrupted) throw refuse('attempt_fenced', 'The attempt was handed back.', job);
  const { attempt, result, billable_ms, speed_factor, expires_at } = command;
  const usage: Usage = { billable_ms, speed_factor, weight: job.created.weight };
  const credits_charged = job.created.key_mode === 'live' ? chargeFor(usage, job.created.credits_estimated) : 0;
  return { type: 'job.finished', data: { attempt, result, ...usage, credits_charged, expires_at } };
}

/** With an attempt, that attempt must own the conversion; without one, the job must still be waiting or queued. */
function fail(command: Extract<JobCommand, { type: 'fail' }>, job: LiveJob): JobEvent {
  if (command.attempt !== undefined) {
    requireOwner(command.attempt, job);
    return { type: 'job.failed', data: { attempt: command.attempt, error: command.error } };
  }
  if (job.status !== 'waiting' && job.status !== 'queued') throw refuse('not_waiting', `The job is ${job.status}.`, job);
  return { type: 'job.failed', data: { error: command.error } };
}

function cancel(job: LiveJob): JobEvent {
  if (job.status === 'processing') throw refuse('processing_cannot_be_cancelled', 'The job is being converted and cannot be cancelled.', job);
  if (TERMINAL_STATUSES.has(job.status)) throw refuse('already_terminal', `The job is ${job.status} already.`, job);
  return { type: 'job.cancelled', data: {} };
}

/**
 * `null` when the job's time was over before; `not_due` when a deadline came early, so that it is set anew. A file that
 * was to be fetched and never was is no upload that never came, nor is one that was assembled and could never be read:
 * the job fails, so that its client is told (§3).
 */
function expire(now: string, job: LiveJob): JobEvent | null {
  const deadline = deadlineOf(job);
  if (deadline === undefined) return null;
  if (now < deadline) throw refuse('not_due', 'The time of the job is not over.', job);
  if (job.status === 'finished') return { type: 'job.expired', data: { reason: 'result_ttl' } };
  if (awaitsFile(job)) return { type: 'job.expired', data: { reason: 'never_uploaded' } };
  const error: EventData<'job.failed'>['error'] = job.created.import === 'url' ? { code: 'url_import_failed', reason: 'timeout' } : { code: 'internal', reason: 'system_error', cause: 'source_damaged' };
  return { type: 'job.failed', data: { error } };
}

function remove(job: LiveJob): JobEvent {
  if (job.status === 'processing') throw refuse('processing_cannot_be_deleted', 'The job is being converted and cannot be deleted.', job);
  const holding = !TERMINAL_STATUSES.has(job.status) && job.created.key_mode === 'live';
  return { type: 'job.deleted', data: { held_credits_released: holding } };
}

function requireOwner(attempt: number, job: LiveJob): void {
  if (job.status !== 'processing' || job.attempt !== attempt) throw refuse('attempt_fenced', 'Another attempt owns the conversion.', job);
}

function assertNever(command: never): never {
  throw new TypeError(`unhandled command ${JSON.stringify(command)}`);
}
