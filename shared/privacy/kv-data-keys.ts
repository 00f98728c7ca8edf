import { createSecretKey, randomBytes, type KeyObject } from 'node:crypto';
import { jetstream, JetStreamApiCodes, JetStreamApiError, type StreamAPI } from '@nats-io/jetstream';
import { Kvm, type KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { systemClock, type Clock } from '../clock/clock.ts';
import { TransientError } from '../errors/errors.ts';
import { toTransient } from '../nats/transient.ts';
import { DataKeyDestroyedError, type DataKeyName, type DataKeys } from './data-keys.ts';
import { ExpiringCache } from './expiring-cache.ts';
import type { MasterKey } from './master-key.ts';
import { unwrapKey, wrapKey } from './wrap.ts';

/** KV bucket of the wrapped data keys. */
export const KEYS_BUCKET = 'KEYS';
/** Stream in which the server keeps the bucket. */
const KEYS_STREAM = `KV_${KEYS_BUCKET}`;
/** The server's code for a message that is not there. */
const CODE_NO_SUCH_MESSAGE = 10043;

/** How long a process may use a key without asking again, and so how long a destroyed one may live on elsewhere, in ms. */
export const DATA_KEY_CACHE_MS = 5_000;

/** Keys kept at once: a list page has at most a hundred jobs, and a key takes well under a kilobyte. */
const CACHED_KEYS_MAX = 10_000;
/** Longest wait for the bucket, in ms; a healthy one answers in under a millisecond. */
const KV_TIMEOUT_MS = 3_000;
const KEY_BYTES = 32;
/** Entry that is wrapped like a key and is none: it tells at start whether the master key is the right one. */
const MASTER_KEY_CHECK = 'master.check';

/**
 * Opens the bucket of data keys, which must exist. Throws `ConfigurationError` when it belongs to another master key,
 * `TransientError` when it cannot be reached.
 */
export async function openKvDataKeys(connection: NatsConnection, masterKey: MasterKey, clock: Clock = systemClock): Promise<DataKeys> {
  return await reaching(async () => {
    // Without allow_direct every read asks the stream's leader: a follower may not have a key yet that was just made.
    const client = jetstream(connection, { timeout: KV_TIMEOUT_MS });
    const bucket = await new Kvm(client).open(KEYS_BUCKET);
    const manager = await client.jetstreamManager(false);
    const keys = new KvDataKeys(bucket, manager.streams, masterKey, clock);
    await keys.checkMasterKey();
    return keys;
  });
}

class KvDataKeys implements DataKeys {
  readonly #bucket: KV;
  readonly #streams: StreamAPI;
  readonly #masterKey: MasterKey;
  readonly #cache: ExpiringCache<KeyObject>;

  constructor(bucket: KV, streams: StreamAPI, masterKey: MasterKey, clock: Clock) {
    this.#bucket = bucket;
    this.#streams = streams;
    this.#masterKey = masterKey;
    this.#cache = new ExpiringCache({ entriesMax: CACHED_KEYS_MAX, keepMs: DATA_KEY_CACHE_MS }, clock);
  }

  /** Makes the check entry on the first start of an installation, reads it on every other. */
  async checkMasterKey(): Promise<void> {
    if (!(await this.#readStored(MASTER_KEY_CHECK))) await this.#createStored(MASTER_KEY_CHECK);
  }

  async create(name: DataKeyName): Promise<KeyObject> {
    return await reaching(async () => {
      const key = await this.#createStored(name);
      this.#cache.set(name, key);
      return key;
    });
  }

  async get(name: DataKeyName): Promise<KeyObject | undefined> {
    const cached = this.#cache.get(name);
    if (cached) return cached;
    const key = await reaching(() => this.#readStored(name));
    if (key) this.#cache.set(name, key);
    return key;
  }

  async destroy(name: DataKeyName): Promise<void> {
    this.#cache.delete(name);
    await reaching(async () => {
      const entry = await this.#bucket.get(name);
      if (entry?.operation === 'PUT') await this.#eraseFromDisk(entry.revision);
      // The marker that a purge leaves keeps the key from being made again.
      await this.#bucket.purge(name);
    });
  }

  /** The server writes random bytes over it; a purge alone leaves the bytes on disk until the block is rewritten. */
  async #eraseFromDisk(revision: number): Promise<void> {
    try {
      await this.#streams.deleteMessage(KEYS_STREAM, revision, true);
    } catch (error) {
      // Another process destroyed it at the same moment.
      if (!(error instanceof JetStreamApiError) || error.code !== CODE_NO_SUCH_MESSAGE) throw error;
    }
  }

  async #createStored(name: string): Promise<KeyObject> {
    const key = createSecretKey(randomBytes(KEY_BYTES));
    try {
      // Not the bucket's own create(), which writes over a marker of destruction.
      await this.#bucket.put(name, wrapKey(this.#masterKey, name, key), { previousSeq: 0 });
      return key;
    } catch (error) {
      if (!isTaken(error)) throw error;
    }
    const entry = await this.#bucket.get(name);
    if (!entry) throw new TransientError('nats', 'another process is making this data key right now');
    if (entry.operation !== 'PUT') throw new DataKeyDestroyedError();
    return unwrapKey(this.#masterKey, name, entry.string());
  }

  async #readStored(name: string): Promise<KeyObject | undefined> {
    const entry = await this.#bucket.get(name);
    return entry?.operation === 'PUT' ? unwrapKey(this.#masterKey, name, entry.string()) : undefined;
  }
}

/** One server says 10071, a cluster whose leader has the other write still in flight says 10164. */
function isTaken(error: unknown): boolean {
  if (!(error instanceof JetStreamApiError)) return false;
  return error.code === JetStreamApiCodes.StreamWrongLastSequence || error.code === JetStreamApiCodes.StreamWrongLastSequenceUnknown;
}

async function reaching<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw toTransient(error);
  }
}
