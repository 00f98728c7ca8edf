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
export async function startLane(nc: NatsConnection, context: ConverterContext, slots: number, cleanup: Cleanup): Promise<void> {
  const durable = `converter-${context.lane}`;
  const worker = await startWorker(nc, { stream: 'JOBS', durable, slots, handle: (message, signal) => convertJob(context, message, signal) }, context.logger);
  cleanup.add(`worker of ${context.lane}`, () => worker.stop());
  const stopping = new AbortController();
  // Nobody waits for it: what it has in hand at a stop comes again.
  void skimQueue(nc, { durable, logger: context.logger, signal: stopping.signal });
  cleanup.add(`skimming of ${context.lane}`, () => stopping.abort());
}
