import { isoTime } from '../../shared/clock/clock.ts';
import { jobDecider, type JobCommand } from '../../shared/domain/job.ts';
import { jobAt } from '../../shared/domain/job-view.ts';
import { DomainError } from '../../shared/errors/errors.ts';
import type { StoredEvent } from '../../shared/events/envelope.ts';
import type { EventData } from '../../shared/events/registry.ts';
import { originFrom } from '../../shared/events/origin.ts';
import { deriveId } from '../../shared/ids/ids.ts';
import type { Observation } from '../../shared/importer-client/messages.ts';
import { ObjectChangedError, ObjectNotFoundError } from '../../shared/objects/errors.ts';
import { handle, loadState } from '../../shared/store/handle.ts';
import type { ImporterContext } from './context.ts';
import { inspectSource, type Inspection } from './inspect.ts';
import { rehearsedImportError } from './rehearsal.ts';

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
  const inspection = await inspect(context, jobId, state.created);
  if (inspection.kind === 'absent') return 'absent';
  return await tellLog(context, cause, inspection);
}

/** A file that is removed or replaced while it is read is no whole file yet; whoever asked looks again. */
async function inspect(context: ImporterContext, jobId: string, created: EventData<'job.created'>): Promise<Inspection> {
  const maxBytes = context.singleUploadBytesMax;
  try {
    const inspection = await inspectSource(context.objects, jobId, { maxBytes, ...(created.key_mode === 'test' ? {} : { inputFormat: created.input_format }) });
    const rehearsed = await rehearsedImportError(context, jobId, created, maxBytes);
    return inspection.kind === 'good' && rehearsed ? { kind: 'bad', error: rehearsed } : inspection;
  } catch (error) {
    if (error instanceof ObjectNotFoundError || error instanceof ObjectChangedError) return { kind: 'absent' };
    throw error;
  }
}

async function tellLog(context: ImporterContext, cause: StoredEvent, inspection: Exclude<Inspection, { kind: 'absent' }>): Promise<Observation> {
  const { id: jobId } = cause.aggregate;
  const command: JobCommand = inspection.kind === 'good' ? { type: 'receive_source', source: inspection.source } : { type: 'fail', error: inspection.error };
  const origin = originFrom(cause, 'importer', deriveId(command.type === 'fail' ? 'source_refused' : 'source_received', jobId), context.clock.nowMs());
  try {
    await handle(context.store, jobDecider, cause.aggregate, command, origin);
  } catch (error) {
    // Cancelled, deleted, expired or observed by another meanwhile: nothing is left to do.
    if (error instanceof DomainError) return 'not_waiting';
    throw error;
  }
  const logger = context.logger.child({ job_id: jobId, correlation_id: cause.envelope.correlationid });
  if (inspection.kind === 'good') logger.info({ size_bytes: inspection.source.size_bytes }, 'source received');
  else logger.info({ code: inspection.error.code, cause: inspection.error.cause }, 'source refused');
  return inspection.kind === 'good' ? 'observed' : 'refused';
}
