import { startWorker, type RunningWorker, type WorkerDefinition } from '../../shared/consume/worker.ts';
import type { Outcome } from '../../shared/consume/outcome.ts';
import { Defect } from '../../shared/errors/errors.ts';
import type { Cleanup } from '../../shared/lifecycle/run-service.ts';
import { parseSubject } from '../../shared/store/subjects.ts';
import { parseDueTimer } from '../../shared/timers/timers.ts';
import { attemptDelivery } from './attempt.ts';
import type { NotifierContext } from './context.ts';
import { WAITING_MAX } from './endpoint-places.ts';
import { fanOut } from './fan-out.ts';
import { forgetEndpoint } from './forget.ts';
import { readFigures } from './read-figures.ts';

/** Messages of each other kind in hand at once; all of it is waiting for NATS. */
const SLOTS = 16;
/** How often the figures are logged, in ms. */
const SUMMARY_EVERY_MS = 60_000;

/**
 * Starts a notifier: it queues events of jobs for the endpoints that subscribed to them, and delivers them (§6). Any
 * number may run at once. `slots` is how many attempts it makes at once. Throws `TransientError` when NATS is away.
 */
export async function startNotifier(context: NotifierContext, slots: number, cleanup: Cleanup): Promise<void> {
  const { nc, logger, figures } = context;
  // As many as may wait on top: those that wait for one endpoint must not keep others from theirs.
  const inHand = slots + WAITING_MAX;
  const workers: readonly WorkerDefinition[] = [
    { stream: 'JOBS', durable: 'notifier-fan-out', slots: SLOTS, handle: (message) => fanOut(context, message) },
    { stream: 'DELIVERIES', durable: 'notifier-first-attempt', slots: inHand, handle: (message, stopping) => attemptDelivery(context, parseSubject(message.subject).id, 'queued', stopping) },
    { stream: 'TIMERS', durable: 'notifier-due-attempt', slots: inHand, handle: (message, stopping) => attemptDue(context, message.subject, stopping) },
    { stream: 'ACCOUNTS', durable: 'notifier-forget', slots: SLOTS, handle: (message) => forgetEndpoint(context, message) },
  ];
  const running: RunningWorker[] = [];
  cleanup.add('workers', async () => void (await Promise.all(running.map((worker) => worker.stop()))));
  for (const definition of workers) running.push(await startWorker(nc, definition, logger));
  figures.readFrom(() => readFigures(context));
  const summary = setInterval(() => logger.info(figures.summarize(), 'deliveries'), SUMMARY_EVERY_MS);
  cleanup.add('summary', () => clearInterval(summary));
}

async function attemptDue(context: NotifierContext, subject: string, stopping: AbortSignal): Promise<Outcome> {
  const [deliveryId] = parseDueTimer(subject).tokens;
  if (deliveryId === undefined) throw new Defect('the timer of a delivery names a delivery');
  return await attemptDelivery(context, deliveryId, 'timer', stopping);
}
