import { nanos } from '@nats-io/transport-node';
import { FAILURES_FILTER, RATE_STREAM, RATE_SUBJECTS } from '../shared/limits/subjects.ts';
import { STORED_PREFIX } from '../shared/store/subjects.ts';
import type { StreamDefinition } from './definition.ts';

/** A counter is of one minute; it is kept a little longer than it can be asked for, in ms. */
const KEPT_MS = 120_000;
/** About half a million counters. Those that were not counted up for longest go first, so one in use never does. */
const BYTES_MAX = 64 * 1024 * 1024;

/**
 * How often each key asked, and how often each address failed to say who it is, in the current minute. In memory: a
 * server that stands alone forgets the counters and the stream itself when it restarts, and the api makes it anew. What
 * is counted of addresses is republished, so that every process knows in milliseconds who is shut out.
 */
export const rate: StreamDefinition = {
  name: RATE_STREAM,
  owner: 'api',
  description: 'Counters of the current minute: requests of keys, failures of addresses',
  config: {
    subjects: [RATE_SUBJECTS],
    storage: 'memory',
    retention: 'limits',
    discard: 'old',
    max_age: nanos(KEPT_MS),
    max_bytes: BYTES_MAX,
    max_msgs_per_subject: 1,
    allow_msg_counter: true,
    allow_direct: true,
    republish: { src: FAILURES_FILTER, dest: `${STORED_PREFIX}${FAILURES_FILTER}` },
  },
};
