import { isoTime } from '../../shared/clock/clock.ts';
import { DONE, type Outcome } from '../../shared/consume/outcome.ts';
import type { WorkerMessage } from '../../shared/consume/worker.ts';
import type { LiveJob } from '../../shared/domain/job-state.ts';
import { jobDecider, type JobCommand } from '../../shared/domain/job.ts';
import { jobAt } from '../../shared/domain/job-view.ts';
import type { StoredEvent } from '../../shared/events/envelope.ts';
import type { EventData } from '../../shared/events/registry.ts';
import { originFrom } from '../../shared/events/origin.ts';
import { deriveId } from '../../shared/ids/ids.ts';
import type { Observation } from '../../shared/importer-client/messages.ts';
import { ObjectChangedError, ObjectDamagedError, ObjectNotFoundError } from '../../shared/objects/errors.ts';
import { isComposedEtag } from '../../shared/objects/composed-etag.ts';
import { sourceKey } from '../../shared/objects/keys.ts';
import type { ObjectHead } from '../../shared/objects/object-store.ts';
import { handleUnlessRefused, loadState } from '../../shared/store/handle.ts';
import { parseSubject } from '../../shared/store/subjects.ts';
import type { ImporterContext } from './context.ts';
import { inspectSource, type Inspection } from './inspect.ts';
import type { Observer } from './observer.ts';
import { rehearsedImportError } from './rehearsal.ts';

/** The assembled file is not there any more, which only an operator or a broken store can cause. */
const LOST: Inspection = { kind: 'bad', error: { code: 'internal', reason: 'system_error', cause: 'source_missing' } };
/** The file is whole no more, which only a broken store can cause; no later look would find it otherwise. */
const DAMAGED: Inspection = { kind: 'bad', error: { code: 'internal', reason: 'system_error', cause: 'source_damaged' } };

/** The file of a job that waits for it: its job, and what is known of it before it is read. */
type Found = { readonly kind: 'found'; readonly head: ObjectHead; readonly maxBytes: number };
/** There is none (yet), or the one that was there is lost or damaged. */
type NotFound = { readonly kind: 'absent' } | { readonly kind: 'lost' } | { readonly kind: 'damaged' };

/**
 * Looks for the file of a job that waits for its upload (D32). A whole file that is what it claims to be is bound by
 * size, hash and entity tag, so that no later upload changes it; any other file ends the job. Several importers may
 * look at once: the command has one id for each job and outcome, so the log has one event. Throws `TransientError`.
 */
export async function observeSource(context: ImporterContext, jobId: string): Promise<Observation> {
  const { state, events } = await loadState(context.store, jobDecider, { kind: 'job', id: jobId });
  const cause = events[0];
  if (state.kind !== 'live' || !cause || state.created.import !== 'upload') return 'not_waiting';
  // By the clock, too: a file that comes after the window must not bring an expired job back (D39, D40).
  if (jobAt(state, isoTime(context.clock.nowMs())).status !== 'waiting') return 'not_waiting';
  const found = await unlessDamaged<Found | NotFound>(findFile(context, jobId, state), { kind: 'damaged' });
  if (found.kind === 'absent') return 'absent';
  if (found.kind === 'found' && isComposedEtag(found.head.etag) && !(await announce(context, cause, state, found.head))) return 'not_waiting';
  const inspection = found.kind === 'lost' ? LOST : found.kind === 'damaged' ? DAMAGED : await unlessDamaged(inspect(context, jobId, found, state.created), DAMAGED);
  if (inspection === 'absent') return 'absent';
  const observation = await tellLog(context, cause, inspection);
  // The single upload was whole first, so the parts are of no use any more (D46).
  if (observation === 'observed' && state.multipart) await context.objects.abortMultipart(sourceKey(jobId));
  return observation;
}

/** Looks at a file as soon as it was assembled. Nobody need ask for it, so that no crash leaves it lying. */
export async function observeAssembled(observer: Observer, message: WorkerMessage): Promise<Outcome> {
  await observer.observe(parseSubject(message.subject).id);
  return DONE;
}

/**
 * Once an upload in parts was completed, its file counts and no other. Before, whatever is whole counts; a file
 * assembled from parts that were discarded afterwards is none (§4.4).
 */
async function findFile(context: ImporterContext, jobId: string, { multipart }: LiveJob): Promise<Found | NotFound> {
  const { objects, singleUploadBytesMax, inputBytesMax } = context;
  const key = sourceKey(jobId);
  if (multipart?.completed) {
    const head = await objects.head(key);
    return head?.etag === multipart.completed.etag ? { kind: 'found', head, maxBytes: inputBytesMax } : { kind: 'lost' };
  }
  const head = await objects.bindUpload(key, { maxBytes: singleUploadBytesMax });
  if (!head || (isComposedEtag(head.etag) && !multipart)) return { kind: 'absent' };
  return { kind: 'found', head, maxBytes: isComposedEtag(head.etag) ? inputBytesMax : singleUploadBytesMax };
}

/**
 * The api says itself that it has assembled a file; if it died before it could, this does. It comes before whatever
 * becomes of the file, so that a client that asks again gets the answer it missed (D45). False when the job has ended
 * or discarded the upload meanwhile.
 */
async function announce(context: ImporterContext, cause: StoredEvent, job: LiveJob, { size_bytes, etag }: ObjectHead): Promise<boolean> {
  if (job.multipart?.completed) return true;
  const origin = originFrom(cause, 'importer', deriveId('multipart_completed', cause.aggregate.id, etag), context.clock.nowMs());
  const command: JobCommand = { type: 'complete_multipart', file: { size_bytes, etag } };
  return (await handleUnlessRefused(context.store, jobDecider, cause.aggregate, command, origin)) !== undefined;
}

/** What was found, or this when the store says that it is damaged. */
async function unlessDamaged<Result>(finding: Promise<Result>, damaged: Result): Promise<Result> {
  try {
    return await finding;
  } catch (error) {
    if (error instanceof ObjectDamagedError) return damaged;
    throw error;
  }
}

/** A file that is removed or replaced while it is read is no whole file yet; whoever asked looks again. */
async function inspect(context: ImporterContext, jobId: string, { head, maxBytes }: Found, created: EventData<'job.created'>): Promise<Inspection | 'absent'> {
  try {
    const inspection = await inspectSource(context.objects, sourceKey(jobId), head, { maxBytes, ...(created.key_mode === 'test' ? {} : { inputFormat: created.input_format }) });
    const rehearsed = await rehearsedImportError(context, jobId, created, maxBytes);
    return inspection.kind === 'good' && rehearsed ? { kind: 'bad', error: rehearsed } : inspection;
  } catch (error) {
    if (error instanceof ObjectNotFoundError || error instanceof ObjectChangedError) return 'absent';
    throw error;
  }
}

/**
 * Appends what the file of a job turned out to be; `cause` is the event that created the job. The command has one id
 * for each job and outcome, so whoever says the same says it once. Answers `not_waiting` when the job has been decided
 * otherwise. Throws `TransientError`, `ConflictError`.
 */
export async function tellLog(context: ImporterContext, cause: StoredEvent, inspection: Inspection): Promise<Observation> {
  const { id: jobId } = cause.aggregate;
  const command: JobCommand = inspection.kind === 'good' ? { type: 'receive_source', source: inspection.source } : { type: 'fail', error: inspection.error };
  const origin = originFrom(cause, 'importer', deriveId(command.type === 'fail' ? 'source_refused' : 'source_received', jobId), context.clock.nowMs());
  // Cancelled, deleted, expired or observed by another meanwhile: nothing is left to do.
  if (!(await handleUnlessRefused(context.store, jobDecider, cause.aggregate, command, origin))) return 'not_waiting';
  const logger = context.logger.child({ job_id: jobId, correlation_id: cause.envelope.correlationid });
  if (inspection.kind === 'good') logger.info({ size_bytes: inspection.source.size_bytes }, 'source received');
  else logger.info({ code: inspection.error.code, reason: inspection.error.reason, cause: inspection.error.cause }, 'source refused');
  return inspection.kind === 'good' ? 'observed' : 'refused';
}
