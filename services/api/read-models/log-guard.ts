import type { NatsConnection } from '@nats-io/transport-node';
import type { Pool } from 'pg';
import { readModelHealth } from '../../../projections/health.ts';
import { TransientError } from '../../../shared/errors/errors.ts';
import type { Logger } from '../../../shared/log/log.ts';

/** How often the log is compared with the read models, in ms. */
const LOOK_EVERY_MS = 5_000;
/** How often while nothing may be written, in ms; writing goes on so soon after a rebuild. */
const LOOK_AGAIN_MS = 500;

/** As far as the last look could tell; `unknown` before the first that went well. */
type Standing = 'right' | 'behind' | 'unknown';

/**
 * Refuses writes while the log is behind what the read models have seen of it: an old store was put back, and whatever
 * is appended now would take the place of events that clients have been told of (D96).
 */
export class LogGuard {
  readonly #nc: NatsConnection;
  readonly #pool: Pool;
  readonly #logger: Logger;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;
  #standing: Standing = 'unknown';

  private constructor(nc: NatsConnection, pool: Pool, logger: Logger) {
    this.#nc = nc;
    this.#pool = pool;
    this.#logger = logger;
  }

  /** Looks once, then again and again. */
  static async start(nc: NatsConnection, pool: Pool, logger: Logger): Promise<LogGuard> {
    const guard = new LogGuard(nc, pool, logger);
    await guard.#lookOn();
    return guard;
  }

  /** Throws `TransientError('read_model')` while nothing may be written. */
  requireWritable(): void {
    if (this.#standing === 'behind') throw new TransientError('read_model', 'the log is behind the read models; an operator has to decide');
    if (this.#standing === 'unknown') throw new TransientError('read_model', 'the log could not be compared with the read models yet');
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  async #lookOn(): Promise<void> {
    await this.#look();
    if (!this.#stopped) this.#timer = setTimeout(() => void this.#lookOn(), this.#standing === 'right' ? LOOK_EVERY_MS : LOOK_AGAIN_MS);
  }

  async #look(): Promise<void> {
    try {
      const behind = (await readModelHealth(this.#nc, this.#pool)).filter(({ halted }) => halted === 'log_behind');
      const before = this.#standing;
      this.#standing = behind.length > 0 ? 'behind' : 'right';
      if (this.#standing === 'behind' && before !== 'behind') this.#logger.error({ read_models: behind.map(({ name }) => name) }, 'the log is behind the read models: nothing is written until an operator decides');
    } catch (error) {
      // Not known now: what was known last stays, and readiness names the dependency that is away.
      this.#logger.warn({ err: error }, 'could not compare the log with the read models');
    }
  }
}
