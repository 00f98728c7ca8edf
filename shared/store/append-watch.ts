import { setTimeout as delay } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import { TransientError } from '../errors/errors.ts';
import type { EventStore } from './event-store.ts';
import { STREAM_OF } from './subjects.ts';

/** How long a refused event counts, in ms: without requests nothing would ever say that the log takes events again. */
const REFUSAL_COUNTS_MS = 30_000;
/** How long the server may take to say that it is there, in ms. */
const ANSWER_MS_MAX = 1_000;

/**
 * Knows whether the log takes events, by what became of those this process appended. A server that met a full disk
 * answers reads, and takes writes to other streams, while it leaves every event of one without an answer; and an event
 * that is appended only to look would stay in the log for ever.
 */
export class AppendWatch {
  readonly #answers: () => Promise<boolean>;
  readonly #nowMs: () => number;
  /** Until when the last refusal of each stream counts. */
  readonly #refusedUntilMs = new Map<string, number>();

  /** `answers` tells whether the server is there at all; `nowMs` is a clock that never goes back. */
  constructor(answers: () => Promise<boolean>, nowMs: () => number = () => performance.now()) {
    this.#answers = answers;
    this.#nowMs = nowMs;
  }

  /** False after a stream refused an event, until the same one takes one or half a minute has passed. */
  isTaking(): boolean {
    const nowMs = this.#nowMs();
    return [...this.#refusedUntilMs.values()].every((untilMs) => nowMs >= untilMs);
  }

  /** The same store, whose appends are watched. */
  watched(store: EventStore): EventStore {
    return {
      load: (aggregate) => store.load(aggregate),
      append: async (aggregate, after, event, origin) => {
        const stream = STREAM_OF[aggregate.kind];
        try {
          const stored = await store.append(aggregate, after, event, origin);
          this.#refusedUntilMs.delete(stream);
          return stored;
        } catch (error) {
          // Nobody waits for it: the caller has waited for long enough.
          if (error instanceof TransientError && error.dependency === 'nats') void this.#note(stream);
          throw error;
        }
      },
    };
  }

  /** A server that does not answer at all is seen at the connection, and is back when that is. */
  async #note(stream: string): Promise<void> {
    if (await this.#answers()) this.#refusedUntilMs.set(stream, this.#nowMs() + REFUSAL_COUNTS_MS);
  }
}

/** Watches what is appended over a connection. */
export function watchAppends(nc: NatsConnection): AppendWatch {
  const flushed = (): Promise<boolean> => nc.flush().then(() => true, () => false);
  return new AppendWatch(() => Promise.race([flushed(), delay(ANSWER_MS_MAX, false, { ref: false })]));
}
