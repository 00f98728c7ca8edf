import { jetstream, JetStreamApiError, type JetStreamClient } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { ConflictError, Defect, TransientError } from '../errors/errors.ts';
import { decode, encode, type AggregateRef, type Origin, type StoredEvent } from '../events/envelope.ts';
import type { DomainEvent } from '../events/registry.ts';
import { toTransient } from '../nats/transient.ts';
import { Deadline } from './deadline.ts';
import type { AppendAfter, EventStore } from './event-store.ts';
import { LeaderReader } from './leader.ts';
import { LOAD_LIMIT_MS, loadEvents, READ_TIMEOUT_MS } from './load.ts';
import { eventSubject, STREAM_OF, versionSubject } from './subjects.ts';

/** An append is tried again for this long, in ms: the log elects a new leader in 4 to 8 s. */
const APPEND_LIMIT_MS = 10_000;
/** Wait for one acknowledgement, in ms; it usually takes one. */
const ACK_TIMEOUT_MS = 2_000;

/**
 * Answers that leave open whether the event is stored, by ourselves or by somebody else. Which one comes differs with
 * the number of replicas and the release, so none of them is believed: the leader is asked what it has.
 */
const CODES_UNDECIDED: ReadonlySet<number> = new Set([
  10071, // wrong last sequence
  10164, // wrong last sequence, another append of this version is in flight
  10158, // the same message id is in flight
  10201, // a batch holds this message id already
]);

/** How long an operation is tried again while the log is away, in ms; the last try may pass it by 4 s. */
export type StoreLimits = { readonly loadMs: number; readonly appendMs: number };

const LIMITS: StoreLimits = { loadMs: LOAD_LIMIT_MS, appendMs: APPEND_LIMIT_MS };

/** Opens the log on JetStream; the streams must exist (`streams/`). */
export function createJetStreamStore(nc: NatsConnection, limits: StoreLimits = LIMITS): EventStore {
  const leader = new LeaderReader(nc, READ_TIMEOUT_MS);
  const js = jetstream(nc);
  return {
    load: (aggregate) => loadEvents(nc, leader, aggregate, limits.loadMs),
    async append(aggregate, after, event, origin) {
      return new Append(js, leader, aggregate, after, event, origin).run(new Deadline(limits.appendMs));
    },
  };
}

/** One append, from the first try until it is known what became of it. */
class Append {
  readonly #js: JetStreamClient;
  readonly #leader: LeaderReader;
  readonly #aggregate: AggregateRef;
  readonly #version: number;
  readonly #commandId: string;
  readonly #subject: string;
  readonly #bytes: Buffer;

  constructor(js: JetStreamClient, leader: LeaderReader, aggregate: AggregateRef, after: AppendAfter, event: DomainEvent, origin: Origin) {
    this.#js = js;
    this.#leader = leader;
    this.#aggregate = aggregate;
    this.#version = after.version + 1;
    this.#commandId = origin.commandId;
    this.#subject = eventSubject(aggregate, this.#version, event.type);
    this.#bytes = encode(aggregate, this.#version, event, origin, after.hash);
  }

  /** Publishing again is safe: the same message id and expectation can be stored once only. */
  async run(deadline: Deadline): Promise<StoredEvent> {
    for (;;) {
      try {
        return await this.#publish();
      } catch (cause) {
        const error = isUndecided(cause) ? new TransientError('nats', 'cannot tell whether an event was stored', { cause }) : toTransient(cause);
        if (!(error instanceof TransientError)) throw error;
        const stored = await this.#readVersion();
        if (stored) return this.#requireOwn(stored);
        if (deadline.passed) throw error;
        await deadline.pause();
      }
    }
  }

  async #publish(): Promise<StoredEvent> {
    const ack = await this.#js.publish(this.#subject, this.#bytes, {
      msgID: this.#commandId,
      timeout: ACK_TIMEOUT_MS,
      retries: 1,
      expect: { lastSubjectSequence: 0, lastSubjectSequenceSubject: versionSubject(this.#aggregate, this.#version) },
    });
    if (!ack.duplicate) return decode(this.#aggregate, ack.seq, this.#bytes);
    const stored = await this.#leader.readAt(STREAM_OF[this.#aggregate.kind], ack.seq);
    if (!stored) throw new TransientError('nats', 'an event that is stored cannot be read yet');
    if (stored.aggregate.id !== this.#aggregate.id) throw new Defect('one command id was used for two aggregates');
    return stored;
  }

  /** What the log has at this version, or undefined when it has nothing or cannot be asked. */
  async #readVersion(): Promise<StoredEvent | undefined> {
    try {
      return await this.#leader.readLast(STREAM_OF[this.#aggregate.kind], versionSubject(this.#aggregate, this.#version));
    } catch (cause) {
      const error = toTransient(cause);
      if (error instanceof TransientError) return undefined;
      throw error;
    }
  }

  #requireOwn(stored: StoredEvent): StoredEvent {
    if (stored.envelope.id === this.#commandId) return stored;
    throw new ConflictError(`somebody else appended version ${this.#version} first`);
  }
}

function isUndecided(error: unknown): boolean {
  return error instanceof JetStreamApiError && CODES_UNDECIDED.has(error.code);
}
