import { setTimeout as delay } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { shareNextLook } from '../../../shared/consume/share-next-look.ts';
import { isSettled, SETTLE_DURABLE } from '../../../shared/ledger-client/settling.ts';
import { toTransient } from '../../../shared/nats/transient.ts';
import { STREAM_OF } from '../../../shared/store/subjects.ts';

/** How long a balance waits for the ledger, in ms; it usually takes ten. Later the balance is shown as it is. */
const SETTLED_MS_MAX = 1_000;
const LOOK_EVERY_MS = 10;

/** Waits, for a bounded time, until the ledger has settled every job that ended at or before a position of `JOBS`. */
export type WhenSettled = (position: number) => Promise<void>;

/**
 * Who sees a job end and then asks for the balance must not find its credits still held (§2.7). The function throws
 * `TransientError('nats')` when the log is away.
 */
export function watchSettling(nc: NatsConnection): WhenSettled {
  const manager = jetstreamManager(nc, { checkAPI: false });
  // One look for all who wait, or every balance that is asked for would ask the server a hundred times a second.
  const look = shareNextLook(async () => (await manager).consumers.info(STREAM_OF.job, SETTLE_DURABLE));
  return async (position) => {
    const endMs = performance.now() + SETTLED_MS_MAX;
    try {
      while (!isSettled(await look(), position) && performance.now() < endMs) await delay(LOOK_EVERY_MS);
    } catch (error) {
      throw toTransient(error);
    }
  };
}
