import { isoTime } from '../../../shared/clock/clock.ts';
import { DONE, later, type Outcome } from '../../../shared/consume/outcome.ts';
import type { WorkerMessage } from '../../../shared/consume/worker.ts';
import { jobDecider } from '../../../shared/domain/job.ts';
import { EgressAbortedError } from '../../../shared/egress/egress-error.ts';
import type { StoredEvent } from '../../../shared/events/envelope.ts';
import { fetchKeyName } from '../../../shared/privacy/data-keys.ts';
import { loadState } from '../../../shared/store/handle.ts';
import { decodeMessage } from '../../../shared/store/stored-message.ts';
import { cleanJob } from '../clean.ts';
import type { ImporterContext } from '../context.ts';
import { tellLog } from '../observe.ts';
import type { EndedJobs } from './ended-jobs.ts';
import type { FetchPlaces } from './fetch-places.ts';
import { fetchSource, type FetchedJob } from './fetch-source.ts';

/** First and longest wait for a place, in ms; a place of the same organization is free after seconds or minutes. */
const TURN_WAIT_MS_MIN = 250;
const TURN_WAIT_MS_MAX = 10_000;
/** Gives back what was not taken. */
const noPlace = (): void => undefined;

/** What the fetches of one importer share. */
export type FetchParts = { readonly context: ImporterContext; readonly ended: EndedJobs; readonly places: FetchPlaces };

/**
 * Fetches the file of a job that was created with a URL (§8). A stop hands the job back at once, and a process that dies
 * hands it back by its silence: the next one begins anew. The end of the job ends the fetch.
 */
export async function handleFetch({ context, ended, places }: FetchParts, message: WorkerMessage, stopping: AbortSignal): Promise<Outcome> {
  const cause = decodeMessage(message.subject, message.position, message.bytes);
  if (cause.event.type !== 'job.created' || cause.event.data.import !== 'url') return DONE;
  const job: FetchedJob = { id: cause.aggregate.id, created: cause.event.data };
  // A test job connects to nothing, so it neither waits behind slow hosts nor takes a place from who does (D65).
  const giveBack = job.created.key_mode === 'test' ? noPlace : places.take(job.created.organization_id);
  if (!giveBack) return later(turnWaitMs(message.deliveryCount));
  const over = new AbortController();
  const end = (): void => over.abort();
  // Watched before the job is read: an end in between would be missed otherwise.
  const unwatch = ended.watch(job.id, end);
  stopping.addEventListener('abort', end);
  if (stopping.aborted) end();
  try {
    await importFile(context, cause, job, over.signal);
    return DONE;
  } catch (error) {
    if (!(error instanceof EgressAbortedError)) throw error;
    if (stopping.aborted) return later(0);
    await forget(context, job.id);
    return DONE;
  } finally {
    stopping.removeEventListener('abort', end);
    unwatch();
    giveBack();
  }
}

async function importFile(context: ImporterContext, cause: StoredEvent, job: FetchedJob, signal: AbortSignal): Promise<void> {
  const { state } = await loadState(context.store, jobDecider, cause.aggregate);
  if (state.kind === 'live' && state.status === 'waiting') {
    // Its time is over, and its deadline says so; a fetch would only race with it.
    if (job.created.upload_deadline_at <= isoTime(context.clock.nowMs())) return;
    await tellLog(context, cause, await fetchSource(context, job, signal));
  }
  await forget(context, job.id);
}

/** What the file was fetched with is of no use any more; nor is the file, if the job has ended meanwhile (D15, D83). */
async function forget(context: ImporterContext, jobId: string): Promise<void> {
  await cleanJob(context, jobId);
  await context.dataKeys.destroy(fetchKeyName(jobId));
}

function turnWaitMs(deliveryCount: number): number {
  const exponential = TURN_WAIT_MS_MIN * 2 ** Math.min(deliveryCount, 10);
  return Math.round(Math.min(exponential, TURN_WAIT_MS_MAX) * (0.5 + Math.random() / 2));
}
