import type { NatsConnection } from '@nats-io/transport-node';
import type { Pool } from 'pg';
import { migrate } from '../../projections/migrate.ts';
import { readPositions } from '../../projections/positions.ts';
import type { ProjectionName } from '../../projections/projection.ts';
import { waitFor } from '../../services/standalone/processes.ts';
import type { EventStore } from '../../shared/store/event-store.ts';
import { createLogger } from '../../shared/log/log.ts';
import { connectNats } from '../../shared/nats/connect.ts';
import { createPool } from '../../shared/postgres/pool.ts';
import { createJetStreamStore } from '../../shared/store/jetstream.ts';
import { applyStreams } from '../../streams/apply.ts';
import { freshDatabase, startNats, type TestNats } from './servers.ts';

/** A reader may first have to find out that the server is there; a busy machine takes its time. */
const CATCH_UP_MS_MAX = 15_000;

export const silent = createLogger('test', 'silent');

/** A log and a database with empty read models. */
export type TestReadModels = {
  readonly nats: TestNats;
  readonly nc: NatsConnection;
  readonly store: EventStore;
  readonly databaseUrl: string;
  readonly pool: Pool;
  /** Waits until a read model has applied a position. */
  readonly reach: (name: ProjectionName, position: number) => Promise<void>;
  readonly stop: () => Promise<void>;
};

/** A database with the tables of all read models. */
export async function freshReadModels(): Promise<{ readonly url: string; drop(): Promise<void> }> {
  return freshDatabase({ name: 'read-models', run: (url) => migrate(url, () => undefined) });
}

/** Starts an empty log and makes empty read models. */
export async function startReadModels(): Promise<TestReadModels> {
  const [nats, database] = await Promise.all([startNats(), freshReadModels()]);
  const nc = await connectNats({ url: nats.url, name: 'test', logger: silent });
  await applyStreams(nc, { replicas: 1, log: () => undefined });
  const pool = createPool(database.url, silent);
  return {
    nats,
    nc,
    store: createJetStreamStore(nc),
    databaseUrl: database.url,
    pool,
    reach: async (name, position) => {
      const isThere = async (): Promise<boolean> => (await readPositions(pool)).some((place) => place.name === name && place.position >= position);
      await waitFor(`${name} at position ${position}`, CATCH_UP_MS_MAX, async () => ((await isThere()) ? true : undefined));
    },
    stop: async () => {
      await nc.close();
      await pool.end();
      await database.drop();
      await nats.stop();
    },
  };
}
