import { nanos } from '@nats-io/transport-node';
import { LEASE_TTL_MS } from '../shared/accounts/applied.ts';
import { ANNOUNCED_KEPT_MS, ENGINES_BUCKET } from '../shared/converters/announcement.ts';
import type { StreamDefinition } from './definition.ts';

/** A wrapped key has some hundred bytes. */
const KEY_BYTES_MAX = 4096;
/** The answer to a legal request of 1 MB, sealed and encoded (D85). */
const ANSWER_BYTES_MAX = 4 * 1024 * 1024;

/** Configuration that the key-value client expects of its streams; one value a key. */
function bucket(name: string): StreamDefinition['config'] {
  return {
    subjects: [`$KV.${name}.>`],
    storage: 'file',
    retention: 'limits',
    discard: 'new',
    max_msgs_per_subject: 1,
    max_msg_size: KEY_BYTES_MAX,
    allow_rollup_hdrs: true,
    deny_delete: true,
    deny_purge: false,
    allow_direct: true,
  };
}

/** Data keys, wrapped under the master key: no age limit, no history, so that a destroyed key cannot come back (D88). */
export const keys: StreamDefinition = {
  name: 'KV_KEYS',
  owner: 'api',
  description: 'Wrapped data keys',
  // A destroyed key must be gone from the disk too: a purge only unlinks it, a delete writes over it.
  config: { ...bucket('KEYS'), deny_delete: false, max_age: 0, duplicate_window: nanos(120_000) },
};

/** Which processes know keys by a local copy; a change of keys waits until each of them has applied it (D62). */
export const leases: StreamDefinition = {
  name: 'KV_LEASES',
  owner: 'operator',
  description: 'Processes that must apply a change of keys at once',
  config: { ...bucket('LEASES'), max_age: nanos(LEASE_TTL_MS), duplicate_window: nanos(LEASE_TTL_MS) },
};

/** Requests that carried an Idempotency-Key, and their answers; each message says itself when it is forgotten. */
export const idempotency: StreamDefinition = {
  name: 'KV_IDEMPOTENCY',
  owner: 'api',
  description: 'Requests with an Idempotency-Key, for 24 hours',
  // A failed request frees its key by deleting its own message: no marker is left that would have to be told from a key.
  config: { ...bucket('IDEMPOTENCY'), max_msg_size: ANSWER_BYTES_MAX, deny_delete: false, max_age: 0, allow_msg_ttl: true, duplicate_window: nanos(120_000) },
};

/** What each converter can do; what the last of them said goes on counting while none is there, so it is no matter of seconds. */
export const engines: StreamDefinition = {
  name: `KV_${ENGINES_BUCKET}`,
  owner: 'converter',
  description: 'Tools that each converter has',
  config: { ...bucket(ENGINES_BUCKET), max_age: nanos(ANNOUNCED_KEPT_MS), duplicate_window: nanos(120_000) },
};
