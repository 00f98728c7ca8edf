import { startWorker, type RunningWorker, type WorkerDefinition } from '../../shared/consume/worker.ts';
import type { Cleanup } from '../../shared/lifecycle/run-service.ts';
import { cleanEndedJob } from './clean.ts';
import type { ImporterContext } from './context.ts';
import { meetDeadline } from './deadlines.ts';
import { observeAssembled, observeSource } from './observe.ts';
import { Observer } from './observer.ts';
import { answerImporterRequests } from './requests.ts';
import { scheduleDeadlines } from './schedule.ts';

/** Messages of each kind in hand at once; all of it is waiting for NATS and the object store. */
const SLOTS = 8;

/**
 * Starts an importer: it sets the deadlines of jobs, meets them, looks for files, and cleans up behind jobs that
 * ended. Any number may run at once. Throws `TransientError` when NATS is away.
 */
export async function startImporter(context: ImporterContext, cleanup: Cleanup): Promise<void> {
  const { nc, logger } = context;
  const observer = new Observer((jobId) => observeSource(context, jobId));
  cleanup.add('looks', () => observer.idle());
  const workers: readonly WorkerDefinition[] = [
    { stream: 'JOBS', durable: 'importer-schedule', slots: SLOTS, handle: (message) => scheduleDeadlines(context, message) },
    { stream: 'JOBS', durable: 'importer-observe', slots: SLOTS, handle: (message) => observeAssembled(observer, message) },
    { stream: 'TIMERS', durable: 'importer-deadlines', slots: SLOTS, handle: (message) => meetDeadline(context, observer, message) },
    { stream: 'JOBS', durable: 'importer-clean', slots: SLOTS, handle: (message) => cleanEndedJob(context, message) },
  ];
  const running: RunningWorker[] = [];
  cleanup.add('workers', async () => void (await Promise.all(running.map((worker) => worker.stop()))));
  for (const definition of workers) running.push(await startWorker(nc, definition, logger));
  const answering = answerImporterRequests(nc, observer, logger);
  cleanup.add('requests', () => answering.stop());
  // Ready means that the server knows of the subscriptions.
  await nc.flush();
}
