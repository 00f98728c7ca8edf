import { setTimeout as delay } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Client } from 'pg';
import { startReader, type RunningReader } from '../shared/consume/reader.ts';
import { TransientError } from '../shared/errors/errors.ts';
import type { StoredEvent } from '../shared/events/envelope.ts';
import type { Logger } from '../shared/log/log.ts';
import { toTransient } from '../shared/postgres/transient.ts';
import { advance, LogBehindError } from './advance.ts';
import type { LogCheck } from './log-check.ts';
import { markHalted, readPosition, type ProjectionPosition } from './positions.ts';
import { projectedSubject, type Projection } from './projection.ts';

/** How often a session looks whether its reader halted and a rebuild set its read model back, in ms. */
const TICK_MS = 500;

/** What a session works with; `client` holds the lease, `ended` is aborted when it breaks or the process stops. */
export type SessionParts = {
  readonly nc: NatsConnection;
  readonly log: LogCheck;
  readonly logger: Logger;
  /** How often the log is compared with what was read while no event comes, in ms. */
  readonly logCheckMs: number;
  readonly projection: Projection;
  readonly client: Client;
  readonly ended: AbortSignal;
  /** Gives the connection up. */
  readonly lose: () => void;
};

/** Keeps one read model up to date over one connection. */
export class Session {
  readonly #parts: SessionParts;
  #turn: Promise<void> = Promise.resolve();

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  /** Runs until the connection ends (`again`) or an event cannot be applied (`defect`). Throws `TransientError`. */
  async run(): Promise<'again' | 'defect'> {
    const { nc, log, logger, projection, client, ended } = this.#parts;
    await this.#untilLogIsRight();
    if (ended.aborted) return 'again';
    await this.#mark(undefined, (await log.readState(projection.stream)).created);
    const definition = { stream: projection.stream, position: () => this.#verify(), apply: (events: readonly StoredEvent[]) => this.#apply(events) };
    const reader = startReader(nc, definition, logger);
    try {
      await this.#watch(reader);
      const cause = reader.halted()?.cause;
      if (cause === undefined || cause instanceof LogBehindError) return 'again';
      await markHalted(client, projection.name, 'defect');
      return 'defect';
    } finally {
      await reader.stop();
    }
  }

  /** Position to read on from. Throws `LogBehindError` when the event there is not the one that was read (D96). */
  async #verify(): Promise<number> {
    const { log, projection } = this.#parts;
    try {
      const place = await this.#readPosition();
      if (!(await log.stillHolds(place))) throw new LogBehindError(projection, place.position);
      return place.position;
    } catch (error) {
      throw this.#judge(error);
    }
  }

  async #apply(events: readonly StoredEvent[]): Promise<void> {
    const { nc, log, projection, client } = this.#parts;
    try {
      const position = await this.#inTurn(() => advance(client, projection, events, log));
      nc.publish(projectedSubject(projection.name), String(position));
    } catch (error) {
      throw this.#judge(error);
    }
  }

  /** A connection after an error of its own is not used again; the next session asks for the lease anew. */
  #judge(error: unknown): unknown {
    const judged = toTransient(error);
    if (judged instanceof TransientError && judged.dependency === 'postgres') this.#parts.lose();
    return judged;
  }

  /** With another log than the one that was read, nothing is applied; looks again until an operator has acted. */
  async #untilLogIsRight(): Promise<void> {
    const { ended, logger, logCheckMs } = this.#parts;
    for (let said = false; !ended.aborted && (await this.#isBehind()); said = true) {
      if (!said) {
        await this.#mark('log_behind');
        logger.fatal('halted: the log is behind the read model, or another log; put the right one back, or rebuild the read model');
      }
      await pause(logCheckMs, ended);
    }
  }

  async #mark(reason: 'log_behind' | undefined, streamCreated?: string): Promise<void> {
    await markHalted(this.#parts.client, this.#parts.projection.name, reason, streamCreated);
  }

  /** Ends when the connection does, the reader halts, a rebuild set the read model back, or the log is another one. */
  async #watch(reader: RunningReader): Promise<void> {
    const { ended, logger, logCheckMs } = this.#parts;
    let checked = { position: reader.position(), atMs: performance.now() };
    for (; !ended.aborted && reader.halted() === undefined; await pause(TICK_MS, ended)) {
      // Every batch is a check of its own.
      if (reader.position() !== checked.position) checked = { position: reader.position(), atMs: performance.now() };
      try {
        // A rebuild over an older log ends before what was read; the reader would wait there for events that never come.
        const applied = reader.position();
        if ((await this.#readPosition()).position < applied) return;
        if (performance.now() - checked.atMs < logCheckMs) continue;
        checked = { ...checked, atMs: performance.now() };
        if (await this.#isBehind()) return;
      } catch (error) {
        // The reader waits for the log as well; what it reads then is checked before it is applied.
        logger.warn({ err: error }, 'the log cannot be compared with the read model now');
      }
    }
  }

  #readPosition(): Promise<ProjectionPosition> {
    return this.#inTurn(() => readPosition(this.#parts.client, this.#parts.projection.name));
  }

  /** One at a time on the connection, so that no look at the position falls into a transaction of the reader. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work);
    this.#turn = turn.then(
      () => undefined,
      () => undefined,
    );
    return turn;
  }

  async #isBehind(): Promise<boolean> {
    try {
      await this.#verify();
      return false;
    } catch (error) {
      if (error instanceof LogBehindError) return true;
      throw error;
    }
  }
}

/** Waits, or until the signal is aborted; never throws. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}
