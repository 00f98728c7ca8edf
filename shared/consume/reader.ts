import { setTimeout as delay } from 'node:timers/promises';
import { jetstream, jetstreamManager, DeliverPolicy, type ConsumerMessages, type JsMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { Defect, TransientError } from '../errors/errors.ts';
import type { StoredEvent } from '../events/envelope.ts';
import type { Logger } from '../log/log.ts';
import { hasAgedOut } from '../nats/aged-out.ts';
import { decodeMessage } from '../store/stored-message.ts';

/** Events handed over at once at most; bounds memory and the length of a transaction. */
const BATCH_MAX = 500;
/** Wait before a reader begins again after a dependency was away, in ms. */
const RESTART_WAIT_MS = 500;
/**
 * Length of one pull and of the silence after which the server is asked anew, in ms. A pull that a restarting server
 * forgot is noticed after two heartbeats; with the client's defaults a reader stood still for 30 s then.
 */
const PULL_MS = 5_000;
const HEARTBEAT_MS = 1_000;
/** How often `waitFor` looks whether the reader has come to its end, in ms. */
const WAIT_TICK_MS = 1_000;

/** Who reads a stream in order, and where it stands. */
export type ReaderDefinition = {
  readonly stream: string;
  /** Position of the last event that was applied; 0 before the first. Read anew whenever the reader starts again. */
  readonly position: () => Promise<number> | number;
  /**
   * Applies events in order and stores the position of the last one in the same transaction. Throws `TransientError`
   * to be called again from the stored position; anything else halts the reader.
   */
  readonly apply: (events: readonly StoredEvent[]) => Promise<void> | void;
};

/** A reader at work. */
export type RunningReader = {
  /** Position of the last event that was applied. */
  readonly position: () => number;
  /** Waits until `position` is applied; false when that did not happen within `timeoutMs`. */
  readonly waitFor: (position: number, timeoutMs: number) => Promise<boolean>;
  /** Why the reader halted; it then stands still until an operator acts. */
  readonly halted: () => Error | undefined;
  readonly stop: () => Promise<void>;
};

/** Follows a stream without acknowledgements. It never skips: what it cannot fold halts it. */
export function startReader(nc: NatsConnection, definition: ReaderDefinition, logger: Logger): RunningReader {
  const reader = new Reader(nc, definition, logger.child({ stream: definition.stream }));
  const running = reader.run();
  return {
    position: () => reader.position,
    waitFor: (position, timeoutMs) => reader.waitFor(position, timeoutMs),
    halted: () => reader.halted,
    async stop() {
      reader.stop();
      await running;
    },
  };
}

class Reader {
  position = 0;
  halted: Error | undefined;
  readonly #nc: NatsConnection;
  readonly #definition: ReaderDefinition;
  readonly #logger: Logger;
  #stopped = false;
  #messages: ConsumerMessages | undefined;
  #waiting: { readonly position: number; readonly wake: () => void }[] = [];

  constructor(nc: NatsConnection, definition: ReaderDefinition, logger: Logger) {
    this.#nc = nc;
    this.#definition = definition;
    this.#logger = logger;
  }

  stop(): void {
    this.#stopped = true;
    this.#messages?.stop();
  }

  async run(): Promise<void> {
    while (!this.#stopped && !this.halted) {
      try {
        this.#reached(await orHalt(() => this.#definition.position()));
        await this.#follow();
      } catch (error) {
        if (this.#stopped) return;
        if (error instanceof HaltingError) {
          this.halted = error;
          this.#logger.fatal({ err: error.cause, position: this.position }, 'reader halted: it met what it cannot apply');
          return;
        }
        this.#logger.warn({ err: error, position: this.position }, 'reader begins again');
        await delay(RESTART_WAIT_MS);
      }
    }
  }

  async #follow(): Promise<void> {
    const consumer = await jetstream(this.#nc).consumers.get(this.#definition.stream, {
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: this.position + 1,
    });
    this.#messages = await consumer.consume({ max_messages: BATCH_MAX, expires: PULL_MS, idle_heartbeat: HEARTBEAT_MS });
    if (this.#stopped) this.#messages.stop();
    let batch: StoredEvent[] = [];
    for await (const message of this.#messages) {
      batch.push(await orHalt(() => this.#decodeNext(message, batch.at(-1)?.position ?? this.position)));
      if (message.info.pending > 0 && batch.length < BATCH_MAX) continue;
      await orHalt(() => this.#definition.apply(batch));
      this.#reached(message.seq);
      batch = [];
      if (this.#stopped) return;
    }
  }

  /** A missing sequence after the first event is a broken log, unless it is of a stream that lets its oldest events go. */
  async #decodeNext(message: JsMsg, before: number): Promise<StoredEvent> {
    if (before > 0 && message.seq !== before + 1) {
      const manager = await jetstreamManager(this.#nc, { checkAPI: false });
      if (!(await hasAgedOut(manager, this.#definition.stream, message.seq - 1))) throw new Defect(`position ${before + 1} is missing in the stream`);
    }
    return decodeMessage(message.subject, message.seq, message.data);
  }

  #reached(position: number): void {
    this.position = position;
    this.#waiting = this.#waiting.filter((waiter) => {
      if (waiter.position > position) return true;
      waiter.wake();
      return false;
    });
  }

  async waitFor(position: number, timeoutMs: number): Promise<boolean> {
    const end = performance.now() + timeoutMs;
    while (this.position < position) {
      const left = end - performance.now();
      if (left <= 0 || this.#stopped || this.halted) return false;
      await this.#wakeUp(position, Math.min(left, WAIT_TICK_MS));
    }
    return true;
  }

  async #wakeUp(position: number, timeoutMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const waiter = { position, wake: () => (clearTimeout(timer), resolve()) };
      const timer = setTimeout(() => {
        this.#waiting = this.#waiting.filter((other) => other !== waiter);
        resolve();
      }, timeoutMs);
      this.#waiting.push(waiter);
    });
  }
}

/** Carries an error that no retry mends out of the loop; what the connection throws is retried instead. */
class HaltingError extends Error {}

async function orHalt<T>(work: () => Promise<T> | T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TransientError) throw error;
    throw new HaltingError('cannot apply', { cause: error });
  }
}
