import type { NatsConnection } from '@nats-io/transport-node';
import type { Pool } from 'pg';
import { readPositions } from './positions.ts';
import { PROJECTION_NAMES, projectedSubject, type ProjectionName } from './projection.ts';

/** Wake-ups may be lost, so whoever waits also asks Postgres this often, in ms. */
const ASK_EVERY_MS = 250;

/** Knows how far the read models are; one for each process, however many requests wait on it. */
export type PositionWatch = {
  /**
   * Waits until a read model has applied `position`, so that a client reads what it wrote (D49); false when that did
   * not happen within `timeoutMs`. Throws `TransientError` when Postgres is away.
   */
  readonly waitForPosition: (name: ProjectionName, position: number, timeoutMs: number) => Promise<boolean>;
  readonly stop: () => void;
};

/** Listens to what the projections say after each commit. */
export function watchPositions(nc: NatsConnection, pool: Pool): PositionWatch {
  const known = new Map<string, number>();
  const waiting = new Set<() => void>();
  const subjects = new Map<string, ProjectionName>(PROJECTION_NAMES.map((name) => [projectedSubject(name), name]));
  const subscription = nc.subscribe(projectedSubject('*'), {
    callback: (error, message) => {
      const name = subjects.get(message.subject);
      const position = Number(message.string());
      if (error !== null || name === undefined || !Number.isSafeInteger(position)) return;
      // Not the highest ever: after a rebuild out of an older log the read model is where it says.
      known.set(name, position);
      for (const wake of waiting) wake();
    },
  });
  const ask = async (): Promise<void> => {
    for (const { name, position } of await readPositions(pool)) known.set(name, position);
  };
  return {
    async waitForPosition(name, position, timeoutMs) {
      const end = performance.now() + timeoutMs;
      const reached = (): boolean => (known.get(name) ?? 0) >= position;
      while (!reached()) {
        await ask();
        const left = end - performance.now();
        if (reached() || left <= 0) break;
        await wakeUp(waiting, reached, Math.min(left, ASK_EVERY_MS));
      }
      return reached();
    },
    stop() {
      subscription.unsubscribe();
      for (const wake of waiting) wake();
    },
  };
}

async function wakeUp(waiting: Set<() => void>, reached: () => boolean, timeoutMs: number): Promise<void> {
  await new Promise<void>((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      waiting.delete(look);
      resolve();
    };
    const timer = setTimeout(finish, timeoutMs);
    const look = (): void => {
      if (reached()) finish();
    };
    waiting.add(look);
  });
}
