import { startWorker, type RunningWorker, type WorkerDefinition } from '../../shared/consume/worker.ts';
import type { Cleanup } from '../../shared/lifecycle/run-service.ts';
import { cleanEndedJob } from './clean.ts';
import type { ImporterContext } from './context.ts';
import { meetDeadline } from './deadlines.ts';
import { EndedJobs } from './fetch/ended-jobs.ts';
import { FetchPlaces } from './fetch/fetch-places.ts';
import { handleFetch } from './fetch/handle-fetch.ts';
import { observeAssembled, observeSource } from './observe.ts';
import { Observer } from './observer.ts';
import { replaceLostTimers } from './lost-timers.ts';
import { answerImporterRequests } from './requests.ts';
import { scheduleDeadlines } from './schedule.ts';

/** Messages of each kind in hand at once; all of it is waiting for NATS and the object store. */
const SLOTS = 8;

/**
 * Starts an importer: it sets the deadlines of jobs, meets them, looks for files, fetches others, and cleans up behind
 * jobs that ended. Any number may run at once. Throws `TransientError` when NATS is away.
 */
export async function startImporter(context: ImporterContext, cleanup: Cleanup): Promise<void> {
  const { nc, logger } = context;
  const observer = new Observer((jobId) => observeSource(context, jobId));
  cleanup.add('looks', () => observer.idle());
  const ended = new EndedJobs(nc);
  cleanup.add('ended jobs', () => ended.stop());
  const places = new FetchPlaces(context.fetchesMax);
  const workers: readonly WorkerDefinition[] = [
    { stream: 'JOBS', durable: 'importer-schedule', slots: SLOTS, handle: (message) => scheduleDeadlines(context, message) },
    { stream: 'JOBS', durable: 'importer-observe', slots: SLOTS, handle: (message) => observeAssembled(observer, message) },
    { stream: 'TIMERS', durable: 'importer-deadlines', slots: SLOTS, handle: (message) => meetDeadline(context, observer, message) },
    // More slots than places: a fetch that has to wait for its turn must not keep others from theirs.
    { stream: 'JOBS', durable: 'importer-fetch', slots: context.fetchesMax + SLOTS, handle: (message, stopping) => handleFetch({ context, ended, places }, message, stopping) },
    { stream: 'JOBS', durable: 'importer-clean', slots: SLOTS, handle: (message) => cleanEndedJob(context, message) },
  ];
  const running: RunningWorker[] = [];
  cleanup.add('workers', async () => void (await Promise.all(running.map((worker) => worker.stop()))));
  for (const definition of workers) running.push(await startWorker(nc, definition, logger));
  replaceLostTimers(context, cleanup);
  const answering = answerImporterRequests(nc, observer, logger);
  cleanup.add('requests', () => answering.stop());
  // Ready means that the server knows of the subscriptions.
  await nc.flush();
}
