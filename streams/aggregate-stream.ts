import { nanos } from '@nats-io/transport-node';
import { STORED_PREFIX, STREAM_OF } from '../shared/store/subjects.ts';
import type { AggregateKind } from '../shared/events/registry.ts';
import type { Owner, StreamDefinition } from './definition.ts';

/** Time in which the server itself knows a message id again; the version on the subject guards for ever. */
const DUPLICATE_WINDOW_MS = 120_000;
/** A legal request of 1 MB, sealed and encoded, with its envelope (D85). */
const EVENT_BYTES_MAX = 4 * 1024 * 1024;
/** Each process that follows the stream holds one consumer, and one that was killed leaves it for some minutes. */
const CONSUMERS_MAX = 512;

/**
 * The log of one kind of aggregate: nothing is deleted or pushed out; when the disk is full, appends are refused.
 * What was stored is republished for wake-ups, because the subjects of the stream also carry what was rejected.
 */
export function aggregateStream(kind: AggregateKind, owner: Owner, description: string): StreamDefinition {
  return {
    name: STREAM_OF[kind],
    owner,
    description,
    config: {
      // Exactly our shape: a stray message on another subject would lie there for ever and halt every reader.
      subjects: [`${kind}.*.*.*`],
      storage: 'file',
      retention: 'limits',
      discard: 'new',
      max_age: 0,
      max_bytes: -1,
      max_msgs: -1,
      max_msgs_per_subject: -1,
      max_msg_size: EVENT_BYTES_MAX,
      max_consumers: CONSUMERS_MAX,
      duplicate_window: nanos(DUPLICATE_WINDOW_MS),
      deny_delete: true,
      deny_purge: true,
      allow_rollup_hdrs: false,
      allow_direct: true,
      republish: { src: `${kind}.>`, dest: `${STORED_PREFIX}${kind}.>` },
    },
  };
}
