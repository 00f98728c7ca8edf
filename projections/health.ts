import type { NatsConnection } from '@nats-io/transport-node';
import type { Pool } from 'pg';
import { openLogCheck, type StreamState } from './log-check.ts';
import { readPositions, type HaltReason, type ProjectionPosition } from './positions.ts';

/** How a read model stands to its log. */
export type ReadModelHealth = ProjectionPosition & {
  /** Last position of the stream. */
  readonly lastPosition: number;
  /** Events that are still to be applied; 0 when the log is behind. */
  readonly lag: number;
  /** Why it stands still, found by the projection itself or by this look at the log. */
  readonly halted: HaltReason | undefined;
};

/**
 * Looks at all read models and at the log. With one of them `log_behind` the service must take no writes until an
 * operator has decided (D96). Throws `TransientError` when NATS or Postgres is away.
 */
export async function readModelHealth(nc: NatsConnection, pool: Pool): Promise<readonly ReadModelHealth[]> {
  const check = await openLogCheck(nc);
  const positions = await readPositions(pool);
  return Promise.all(
    positions.map(async (place) => {
      const [state, holds] = await Promise.all([check.readState(place.stream), check.stillHolds(place)]);
      return { ...place, lastPosition: state.lastPosition, lag: lagOf(place.position, state), halted: holds ? place.halted : 'log_behind' };
    }),
  );
}

/** What has aged out is nothing that anybody still applies. */
function lagOf(position: number, { firstPosition, lastPosition }: StreamState): number {
  return Math.max(0, lastPosition - Math.max(position, firstPosition - 1));
}
