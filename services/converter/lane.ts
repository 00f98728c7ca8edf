import type { NatsConnection } from '@nats-io/transport-node';
import { startWorker } from '../../shared/consume/worker.ts';
import type { Cleanup } from '../../shared/lifecycle/run-service.ts';
import type { ConverterContext } from './context.ts';
import { skimQueue } from './skim.ts';
import { convertJob } from './worker.ts';

/**
 * Works the queue of `context.lane` with slots of its own, and skips beside that what has ended long ago. Throws
 * `TransientError` when NATS is away.
 */
export async function startLane(nc: NatsConnection, context: Omit<ConverterContext, 'running'>, slots: number, cleanup: Cleanup): Promise<void> {
  const durable = `converter-${context.lane}`;
  // Every queue sees every job; one that shared this set with the others would put off a job that they only look at.
  const own = { ...context, running: new Set<string>() };
  const worker = await startWorker(nc, { stream: 'JOBS', durable, slots, handle: (message, signal) => convertJob(own, message, signal) }, context.logger);
  cleanup.add(`worker of ${context.lane}`, () => worker.stop());
  const stopping = new AbortController();
  // Nobody waits for it: what it has in hand at a stop comes again.
  void skimQueue(nc, { durable, logger: context.logger, signal: stopping.signal });
  cleanup.add(`skimming of ${context.lane}`, () => stopping.abort());
}
