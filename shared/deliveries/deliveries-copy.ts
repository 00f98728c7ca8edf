import type { NatsConnection } from '@nats-io/transport-node';
import { openLocalCopy, type CopyDefinition, type LocalCopy } from '../consume/local-copy.ts';
import { streamExtent } from '../consume/read-stream.ts';
import { TransientError } from '../errors/errors.ts';
import type { Logger } from '../log/log.ts';
import { STREAM_OF } from '../store/subjects.ts';
import { DELIVERIES_TABLES, DELIVERIES_TABLES_VERSION, DeliveriesTables } from './deliveries-tables.ts';

/** How the endpoints have fared, in this process: a disposable copy of `DELIVERIES` in SQLite that follows the stream. */
export class DeliveriesCopy {
  readonly tables: DeliveriesTables;
  /** Follows `DELIVERIES`; after an append, wait for its position before asking. */
  readonly reader: LocalCopy['reader'];
  readonly #copy: LocalCopy;
  readonly #nc: NatsConnection;

  private constructor(nc: NatsConnection, copy: LocalCopy) {
    this.#nc = nc;
    this.#copy = copy;
    this.reader = copy.reader;
    this.tables = new DeliveriesTables(copy.database);
  }

  /** Opens the copy in `folder` (in memory without one) and begins to follow. Throws `TransientError`. */
  static async open(nc: NatsConnection, logger: Logger, folder?: string): Promise<DeliveriesCopy> {
    let tables: DeliveriesTables | undefined;
    const definition: CopyDefinition = {
      stream: STREAM_OF.delivery,
      name: 'deliveries',
      version: DELIVERIES_TABLES_VERSION,
      tables: DELIVERIES_TABLES,
      apply(database, stored) {
        tables ??= new DeliveriesTables(database);
        tables.apply(stored);
      },
    };
    return new DeliveriesCopy(nc, await openLocalCopy(nc, folder === undefined ? definition : { ...definition, folder }, logger));
  }

  /** Waits until everything that lies in `DELIVERIES` now is applied. Throws `TransientError` when that takes longer. */
  async catchUp(timeoutMs: number): Promise<void> {
    const { last, messages } = await streamExtent(this.#nc, STREAM_OF.delivery);
    // Of a stream that has forgotten everything, the last position is never read.
    if (messages > 0 && !(await this.reader.waitFor(last, timeoutMs))) throw new TransientError('nats', 'the copy of the deliveries is behind');
  }

  stop(): Promise<void> {
    return this.#copy.stop();
  }
}
