import { DONE, type Outcome } from '../../shared/consume/outcome.ts';
import type { WorkerMessage } from '../../shared/consume/worker.ts';
import { jobDecider } from '../../shared/domain/job.ts';
import { isOver, type JobState } from '../../shared/domain/job-state.ts';
import type { StoredEvent } from '../../shared/events/envelope.ts';
import { resultKey, resultPrefix, sourceKey } from '../../shared/objects/keys.ts';
import { fetchKeyName, jobKeyName } from '../../shared/privacy/data-keys.ts';
import { loadState } from '../../shared/store/handle.ts';
import { parseSubject } from '../../shared/store/subjects.ts';
import { scheduleTimer } from '../../shared/timers/timers.ts';
import type { ImporterContext } from './context.ts';

/**
 * Cleans up behind a job that ended, now and once more later: an upload may be on its way while the job is cancelled,
 * an upload URL may still work, a converter that was taken for dead may still write. What such a straggler leaves is
 * removed by the second time, which also comes when whoever wrote it is gone.
 */
export async function cleanEndedJob(context: ImporterContext, message: WorkerMessage): Promise<Outcome> {
  const { id } = parseSubject(message.subject);
  const events = await cleanJob(context, id);
  const dueAtMs = Math.max(context.clock.nowMs(), uploadUrlExpiresAtMs(events)) + context.cleanAgainMs;
  await scheduleTimer(context.nc, { kind: 'clean_up', subjectTokens: [id], dueAtMs });
  return DONE;
}

/**
 * Removes what a job in its present state has no use for: nothing while it goes on; all but the result that is kept
 * when it is finished; everything after any other end; with what its file was to be fetched; and what its client typed
 * when it is deleted (D36, D88). It may be called at any time, any number of times. Answers the job's events. Throws `TransientError`.
 */
export async function cleanJob(context: ImporterContext, jobId: string): Promise<readonly StoredEvent[]> {
  const { state, events } = await loadState(context.store, jobDecider, { kind: 'job', id: jobId });
  if (!isOver(state)) return events;
  await context.objects.abortMultipart(sourceKey(jobId));
  await context.objects.remove(sourceKey(jobId));
  await removeResults(context, jobId, state);
  if (mayBeFetched(events)) await context.dataKeys.destroy(fetchKeyName(jobId));
  if (state.kind === 'deleted') await context.dataKeys.destroy(jobKeyName(jobId));
  return events;
}

/** Every attempt wrote a result of its own; at most that of the attempt which finished the job is kept. */
async function removeResults(context: ImporterContext, jobId: string, state: JobState): Promise<void> {
  const kept = state.kind === 'live' && state.status === 'finished' && state.finish ? resultKey(jobId, state.finish.attempt) : undefined;
  for await (const { key } of context.objects.list(resultPrefix(jobId))) {
    if (key !== kept) await context.objects.remove(key);
  }
}

/** A job that was given up before it was created does not say whether it had a URL. */
function mayBeFetched(events: readonly StoredEvent[]): boolean {
  const first = events[0]?.event;
  return first?.type !== 'job.created' || first.data.import === 'url';
}

/** Until then an object store may take an upload without asking us; 0 when there is no upload URL. */
function uploadUrlExpiresAtMs(events: readonly StoredEvent[]): number {
  const first = events[0]?.event;
  if (first?.type !== 'job.created' || first.data.upload_url_expires_at === undefined) return 0;
  return Date.parse(first.data.upload_url_expires_at);
}
