import type { NatsConnection } from '@nats-io/transport-node';
import type { Client } from 'pg';
import { DomainError } from '../shared/errors/errors.ts';
import { createClient } from '../shared/postgres/pool.ts';
import { inTransaction } from '../shared/postgres/transaction.ts';
import { toTransient } from '../shared/postgres/transient.ts';
import { holdsLease } from './lease.ts';
import { openLogCheck, readableEnd, type LogCheck } from './log-check.ts';
import { markHalted, movePosition, readPosition } from './positions.ts';
import { PROJECTIONS, type Projection, type ProjectionName } from './projection.ts';
import { LOG_START, replay, type ReplayPlace } from './replay.ts';
import { createShadow, type Shadow } from './shadow.ts';

/** Longest statement of a rebuild, in ms: an index over a hundred million rows takes minutes. */
const STATEMENT_MS_MAX = 30 * 60_000;

/** What a rebuild did. */
export type Rebuilt = { readonly name: ProjectionName; readonly position: number; readonly durationMs: number };

/**
 * Makes a read model anew out of the whole log, beside the live one, and swaps it in between two batches; lists and
 * balances go on all the while. The old table is dropped at once: it would keep rows of jobs that clients delete later
 * (D36), and the log has everything. Also the way out after an older log was put in place on purpose (D96).
 * Throws `DomainError` when another rebuild runs, `Defect` when the log cannot be folded, `TransientError`.
 */
export async function rebuild(nc: NatsConnection, databaseUrl: string, name: ProjectionName, onProgress: (line: string) => void): Promise<Rebuilt> {
  const startedAt = performance.now();
  const client = createClient(databaseUrl, `rebuild ${name}`, () => undefined, STATEMENT_MS_MAX);
  try {
    await client.connect();
    if (!(await holdsLease(client, `rebuild ${name}`))) throw new DomainError('already_running', `another rebuild of ${name} is running`);
    const shadow = await createShadow(client, PROJECTIONS[name]);
    try {
      const position = await new Rebuild(nc, client, await openLogCheck(nc), PROJECTIONS[name], shadow, onProgress).run();
      return { name, position, durationMs: Math.round(performance.now() - startedAt) };
    } finally {
      await shadow.drop().catch(() => undefined);
    }
  } catch (error) {
    throw toTransient(error);
  } finally {
    await client.end();
  }
}

class Rebuild {
  readonly #nc: NatsConnection;
  readonly #client: Client;
  readonly #log: LogCheck;
  readonly #projection: Projection;
  readonly #shadow: Shadow;
  readonly #onProgress: (line: string) => void;

  constructor(nc: NatsConnection, client: Client, log: LogCheck, projection: Projection, shadow: Shadow, onProgress: (line: string) => void) {
    this.#nc = nc;
    this.#client = client;
    this.#log = log;
    this.#projection = projection;
    this.#shadow = shadow;
    this.#onProgress = onProgress;
  }

  /** Fills the shadow without holding anybody up, then does the rest while the live projection waits. */
  async run(): Promise<number> {
    const { name } = this.#projection;
    const filled = await this.#replayToEnd(LOG_START, (work) => inTransaction(this.#client, work));
    this.#onProgress(`${name}: making indexes`);
    await this.#shadow.addIndexes();
    const caughtUp = await this.#replayToEnd(filled, (work) => inTransaction(this.#client, work));
    const swapped = await inTransaction(this.#client, async () => {
      const live = await readPosition(this.#client, name, 'lock');
      const last = await this.#replayToEnd(caughtUp, (work) => work());
      await this.#settle();
      await this.#shadow.swapIn();
      await movePosition(this.#client, name, live.position, last);
      await markHalted(this.#client, name, undefined, (await this.#log.readState(this.#projection.stream)).created);
      return last;
    });
    this.#onProgress(`${name}: swapped in at position ${swapped.position}`);
    return swapped.position;
  }

  /** From here on nobody else removes a row of the live table, which would stay in the one that takes its place. */
  async #settle(): Promise<void> {
    const { settle, table, stream } = this.#projection;
    if (!settle) return;
    const live = `public.${table}`;
    await this.#client.query(`lock table ${live} in row exclusive mode`);
    await settle(this.#client, { table: this.#shadow.table, live, firstPosition: (await this.#log.readState(stream)).firstPosition });
  }

  async #replayToEnd(from: ReplayPlace, transact: (work: () => Promise<void>) => Promise<void>): Promise<ReplayPlace> {
    const { name, stream, apply } = this.#projection;
    const lastPosition = readableEnd(await this.#log.readState(stream));
    return replay(this.#nc, {
      stream,
      from,
      until: lastPosition,
      apply: (events) => transact(() => apply(this.#client, this.#shadow.table, events)),
      onProgress: (position) => this.#onProgress(`${name}: ${position} of ${lastPosition}`),
    });
  }
}
