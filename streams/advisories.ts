import { nanos } from '@nats-io/transport-node';
import type { StreamDefinition } from './definition.ts';

/** How long a person has time to look at a parked message, in ms. */
const KEPT_MS = 30 * 24 * 3_600_000;
/** About a million advisories; the oldest go first. */
const BYTES_MAX = 512 * 1024 * 1024;

/** What workers parked and what JetStream gave up on: which stream, consumer and sequence, and why. */
export const advisories: StreamDefinition = {
  name: 'ADVISORIES',
  owner: 'operator',
  description: 'Messages that were parked or given up',
  config: {
    subjects: ['$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.>', '$JS.EVENT.ADVISORY.CONSUMER.MSG_TERMINATED.>'],
    storage: 'file',
    retention: 'limits',
    discard: 'old',
    max_age: nanos(KEPT_MS),
    max_bytes: BYTES_MAX,
    allow_direct: true,
  },
};
