import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { openLocalCopy, type LocalCopy } from '../../shared/consume/local-copy.ts';
import { TransientError } from '../../shared/errors/errors.ts';
import type { Logger } from '../../shared/log/log.ts';
import { toTransient } from '../../shared/nats/transient.ts';
import { CREDITS_TABLES, CREDITS_TABLES_VERSION, CreditsTables } from './credits-tables.ts';

const STREAM = 'CREDITS';
/** One question to the server, in ms. */
const INFO_TIMEOUT_MS = 1_000;

/** The ledger's working state: a disposable copy of `CREDITS` in SQLite that follows the stream. */
export class CreditsCopy {
  readonly tables: CreditsTables;
  /** Follows `CREDITS`; when it has halted nothing may be decided. */
  readonly reader: LocalCopy['reader'];
  readonly #copy: LocalCopy;
  readonly #manager: JetStreamManager;

  private constructor(copy: LocalCopy, manager: JetStreamManager) {
    this.#copy = copy;
    this.reader = copy.reader;
    this.#manager = manager;
    this.tables = new CreditsTables(copy.database);
  }

  /** Opens the copy in `folder` (in memory without one) and begins to follow. Throws `TransientError`. */
  static async open(nc: NatsConnection, logger: Logger, folder?: string): Promise<CreditsCopy> {
    const manager = await jetstreamManager(nc, { checkAPI: false, timeout: INFO_TIMEOUT_MS });
    let tables: CreditsTables | undefined;
    const definition = {
      stream: STREAM,
      name: 'credits',
      version: CREDITS_TABLES_VERSION,
      tables: CREDITS_TABLES,
      apply(...[database, stored]: Parameters<Parameters<typeof openLocalCopy>[1]['apply']>): void {
        tables ??= new CreditsTables(database);
        tables.apply(stored);
      },
    };
    return new CreditsCopy(await openLocalCopy(nc, folder === undefined ? definition : { ...definition, folder }, logger), manager);
  }

  /** Waits until everything that lies in `CREDITS` now is applied. Throws `TransientError` when that takes longer. */
  async catchUp(timeoutMs: number): Promise<void> {
    const end = await this.#readEnd();
    if (!(await this.reader.waitFor(end, timeoutMs))) throw new TransientError('ledger', 'the copy of the credits is behind');
  }

  stop(): Promise<void> {
    return this.#copy.stop();
  }

  async #readEnd(): Promise<number> {
    try {
      return (await this.#manager.streams.info(STREAM)).state.last_seq;
    } catch (error) {
      throw toTransient(error);
    }
  }
}
