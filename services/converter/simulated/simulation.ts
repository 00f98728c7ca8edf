import { startWorker, type WorkerDefinition } from '../../../shared/consume/worker.ts';
import type { Cleanup } from '../../../shared/lifecycle/run-service.ts';
import type { SimulationContext } from './context.ts';
import { endSimulation, simulateConversion } from './worker.ts';

/** Test jobs in hand at once, of each kind of message; all of it is waiting for NATS and the object store. */
const SLOTS = 4;

/**
 * Starts the simulated conversions of test jobs (§5.3): consumers and slots of their own, so that no live job ever
 * waits for a test job. Throws `TransientError` when NATS is away.
 */
export async function startSimulation(context: SimulationContext, cleanup: Cleanup): Promise<void> {
  const workers: readonly WorkerDefinition[] = [
    { stream: 'JOBS', durable: 'converter-simulated', slots: SLOTS, handle: (message) => simulateConversion(context, message) },
    { stream: 'TIMERS', durable: 'converter-simulated-end', slots: SLOTS, handle: (message) => endSimulation(context, message) },
  ];
  for (const definition of workers) {
    const worker = await startWorker(context.nc, definition, context.logger);
    cleanup.add(definition.durable, () => worker.stop());
  }
}
