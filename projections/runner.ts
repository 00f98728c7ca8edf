import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from '../shared/log/log.ts';
import { follow } from './follower.ts';
import { openLogCheck } from './log-check.ts';
import { PROJECTIONS, type Projection } from './projection.ts';

/** How often the log is compared with what was read while no event comes, in ms. */
const LOG_CHECK_MS = 60_000;

/** Options of `startProjections`. */
export type ProjectionsOptions = {
  readonly databaseUrl: string;
  readonly logger: Logger;
  readonly projections?: readonly Projection[];
  readonly logCheckMs?: number;
};

/**
 * Keeps all read models up to date. Any number of processes may run: one at a time writes each read model, the others
 * take over when it ends. One that halts does not stop the others; `readModelHealth` tells.
 */
export async function startProjections(nc: NatsConnection, options: ProjectionsOptions): Promise<{ readonly stop: () => Promise<void> }> {
  const { databaseUrl, logger, projections = Object.values(PROJECTIONS), logCheckMs = LOG_CHECK_MS } = options;
  const stopping = new AbortController();
  const context = { nc, databaseUrl, log: await openLogCheck(nc), logger, logCheckMs };
  const running = projections.map((projection) => follow(context, projection, stopping.signal));
  return {
    async stop() {
      stopping.abort();
      await Promise.all(running);
    },
  };
}
