import { createHash } from 'node:crypto';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Pool, PoolClient } from 'pg';
import { inTransaction } from '../shared/postgres/transaction.ts';
import { toTransient } from '../shared/postgres/transient.ts';
import { LogBehindError } from './advance.ts';
import { openLogCheck, readableEnd } from './log-check.ts';
import { readPosition } from './positions.ts';
import { PROJECTIONS, type Companion, type Projection, type ProjectionName } from './projection.ts';
import { LOG_START, replay, type ReplayPlace } from './replay.ts';
import { walkRows, zipRows } from './row-walk.ts';

/** Keys that are listed at most; whoever has more than these rebuilds, and looks no further. */
const DIFFERING_MAX = 10_000;

/** How a read model compares with a replay of its log, both at the same position. */
export type Comparison = {
  readonly name: ProjectionName;
  readonly position: number;
  /** Rows of the live table. */
  readonly rows: number;
  /** SHA-256 over all rows in the order of their keys: of the live table, and of the replay. */
  readonly sha256: string;
  readonly sha256Replayed: string;
  /** Keys of rows that are missing, too many or different, in the table or beside it; the first ten thousand of each. */
  readonly differing: readonly string[];
};

/**
 * Replays the whole log beside every read model and compares row by row, while both go on. Nothing is left behind: the
 * replay fills a temporary table. Throws `LogBehindError` when the log is not the one that was read, `Defect` when it
 * cannot be folded, `TransientError`.
 */
export async function compareReadModels(nc: NatsConnection, pool: Pool, onProgress: (line: string) => void): Promise<readonly Comparison[]> {
  const comparisons: Comparison[] = [];
  for (const projection of Object.values(PROJECTIONS)) comparisons.push(await compareReadModel(nc, pool, projection, onProgress));
  return comparisons;
}

async function compareReadModel(nc: NatsConnection, pool: Pool, projection: Projection, onProgress: (line: string) => void): Promise<Comparison> {
  const client = await pool.connect().catch((error: unknown) => {
    throw toTransient(error);
  });
  const replayed = `pg_temp.${projection.table}_replayed`;
  try {
    await client.query(`create temp table ${projection.table}_replayed (like public.${projection.table} including all)`);
    if (projection.companion) {
      const { tableFor } = projection.companion;
      await client.query(`create table ${tableFor(replayed)} (like public.${tableFor(projection.table)} including all)`);
    }
    return await compareWith(nc, client, projection, replayed, onProgress);
  } catch (error) {
    throw toTransient(error);
  } finally {
    // Closing the connection drops the temporary table, whatever has happened to it.
    client.release(true);
  }
}

async function compareWith(nc: NatsConnection, client: PoolClient, projection: Projection, replayed: string, onProgress: (line: string) => void): Promise<Comparison> {
  const { name, table, key, companion } = projection;
  const log = await openLogCheck(nc);
  // Most of the replay happens before the snapshot of the live table is taken, which Postgres should not keep for long.
  const early = await readPosition(client, name);
  if (!(await log.stillHolds(early))) throw new LogBehindError(projection, early.position);
  const replayTo = async (from: ReplayPlace, until: number, transact: (work: () => Promise<void>) => Promise<void>): Promise<ReplayPlace> =>
    replay(nc, {
      stream: projection.stream,
      from,
      // What has aged out since it was applied comes to nobody any more.
      until: Math.min(until, readableEnd(await log.readState(projection.stream))),
      apply: (events) => transact(() => projection.apply(client, replayed, events)),
      onProgress: (position) => onProgress(`${name}: ${position} of ${until}`),
    });
  const before = await replayTo(LOG_START, early.position, (work) => inTransaction(client, work));
  return inTransaction(
    client,
    async () => {
      const { position } = await readPosition(client, name);
      await replayTo(before, position, (work) => work());
      await projection.settle?.(client, { table: replayed, live: `public.${table}`, firstPosition: (await log.readState(projection.stream)).firstPosition });
      const rows = await compareRows(client, `public.${table}`, replayed, key);
      const companions = companion ? await compareCompanions(client, companion, table, replayed) : [];
      return { name, position, ...rows, differing: [...rows.differing, ...companions] };
    },
    'repeatable read',
  );
}

async function compareRows(client: PoolClient, live: string, replayed: string, key: string): Promise<Omit<Comparison, 'name' | 'position'>> {
  const hashes = { left: createHash('sha256'), right: createHash('sha256') };
  const differing: string[] = [];
  let rows = 0;
  for await (const row of zipRows(walkRows(client, live, key), walkRows(client, replayed, key))) {
    if (row.left !== undefined) {
      rows += 1;
      hashes.left.update(row.left);
    }
    if (row.right !== undefined) hashes.right.update(row.right);
    if (row.left !== row.right && differing.length < DIFFERING_MAX) differing.push(row.key);
  }
  return { rows, sha256: hashes.left.digest('hex'), sha256Replayed: hashes.right.digest('hex'), differing };
}

/** Keys of what differs in a companion; it is small beside its table. */
async function compareCompanions(client: PoolClient, companion: Companion, table: string, replayed: string): Promise<readonly string[]> {
  const { tableFor, key } = companion;
  const live = `public.${tableFor(table)}`;
  const { rows } = await client.query<{ key: string }>(
    `select concat_ws(' ', ${key.join(', ')}) as key
     from ((table ${live} except table ${tableFor(replayed)}) union (table ${tableFor(replayed)} except table ${live})) as differing
     group by ${key.join(', ')} order by 1 limit ${DIFFERING_MAX}`,
  );
  return rows.map((row) => row.key);
}
