import { jetstream, JetStreamApiCodes, JetStreamApiError, type JetStreamClient, type JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { toTransient } from '../../../shared/nats/transient.ts';
import { parseEntry, type Entry } from './entry.ts';

const BUCKET = 'IDEMPOTENCY';
/** Stream in which the server keeps the bucket. */
const STREAM = `KV_${BUCKET}`;
/** Longest wait for the bucket, in ms; a healthy one answers in under a millisecond. */
const TIMEOUT_MS = 3_000;
/** The server's code for a message that is not there any more. */
const CODE_NO_SUCH_MESSAGE = 10043;

/** What stands at a place: `revision` 0 when nothing ever did; without `entry` it is free. */
export type Noted = { readonly revision: number; readonly entry?: Entry };

/**
 * Notes of requests, in the KV bucket `IDEMPOTENCY`. Written as messages and not by the KV client, whose `update` would
 * drop the time after which the server forgets a key, and whose `delete` leaves a marker behind for ever. Every method
 * throws `TransientError` when NATS is away.
 */
export class IdempotencyBucket {
  readonly #client: JetStreamClient;
  readonly #manager: JetStreamManager;
  readonly #ttl: string;

  private constructor(client: JetStreamClient, manager: JetStreamManager, ttlMs: number) {
    this.#client = client;
    this.#manager = manager;
    this.#ttl = `${Math.ceil(ttlMs / 1000)}s`;
  }

  /** Opens the bucket, which must exist; the server forgets an entry `ttlMs` after it was last written. */
  static async open(nc: NatsConnection, ttlMs: number): Promise<IdempotencyBucket> {
    const client = jetstream(nc, { timeout: TIMEOUT_MS });
    return new IdempotencyBucket(client, await client.jetstreamManager(false), ttlMs);
  }

  /** Writes over `revision` (0: where nothing is). Answers the new revision, or undefined when somebody else wrote first. */
  async write(place: string, revision: number, entry: Entry): Promise<number | undefined> {
    const text = JSON.stringify(entry);
    try {
      const ack = await this.#client.publish(subjectOf(place), text, { ttl: this.#ttl, timeout: TIMEOUT_MS, retries: 1, expect: { lastSubjectSequence: revision } });
      return ack.seq;
    } catch (error) {
      if (!isTaken(error)) throw toTransient(error);
    }
    // It may be our own, written by a try whose answer was lost.
    const found = await this.#readText(place);
    return found?.text === text ? found.revision : undefined;
  }

  /** Reads from the leader: a replica may not have what another process just wrote. */
  async read(place: string): Promise<Noted> {
    const found = await this.#readText(place);
    if (!found) return { revision: 0 };
    // An operator who removes a key with the `nats` command leaves an empty marker.
    return found.text === '' ? { revision: found.revision } : { revision: found.revision, entry: parseEntry(found.text) };
  }

  /** Frees a place, unless somebody else has written there since. */
  async remove(revision: number): Promise<void> {
    try {
      await this.#manager.streams.deleteMessage(STREAM, revision, false);
    } catch (error) {
      if (!(error instanceof JetStreamApiError) || error.code !== CODE_NO_SUCH_MESSAGE) throw toTransient(error);
    }
  }

  async #readText(place: string): Promise<{ readonly text: string; readonly revision: number } | undefined> {
    try {
      const message = await this.#manager.streams.getMessage(STREAM, { last_by_subj: subjectOf(place) });
      return message === null ? undefined : { text: message.string(), revision: message.seq };
    } catch (error) {
      throw toTransient(error);
    }
  }
}

function subjectOf(place: string): string {
  return `$KV.${BUCKET}.${place}`;
}

/** One server says 10071, a cluster whose leader has the other write still in flight says 10164. */
function isTaken(error: unknown): boolean {
  if (!(error instanceof JetStreamApiError)) return false;
  return error.code === JetStreamApiCodes.StreamWrongLastSequence || error.code === JetStreamApiCodes.StreamWrongLastSequenceUnknown;
}
