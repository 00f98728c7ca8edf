import { nanos } from '@nats-io/transport-node';
import type { StreamDefinition } from './definition.ts';

/**
 * Deadlines as JetStream message schedules. A stream of its own, because the server must be able to delete from it.
 * No limit of age: it would also drop deadlines that lie far ahead.
 */
export const timers: StreamDefinition = {
  name: 'TIMERS',
  owner: 'importer',
  description: 'Deadlines: scheduled, then due',
  config: {
    subjects: ['timer.>'],
    storage: 'file',
    retention: 'limits',
    // The server takes no schedules otherwise; without limits it has nothing to discard.
    discard: 'old',
    max_age: 0,
    max_bytes: -1,
    max_msgs: -1,
    // A deadline that is set anew replaces the one before it.
    max_msgs_per_subject: 1,
    duplicate_window: nanos(120_000),
    allow_direct: true,
    allow_msg_ttl: true,
    allow_msg_schedules: true,
  },
};
