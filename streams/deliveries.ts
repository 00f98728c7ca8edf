import { nanos } from '@nats-io/transport-node';
import { aggregateStream } from './aggregate-stream.ts';
import type { StreamDefinition } from './definition.ts';

/** How long the history of deliveries is kept, in ms (§6 delivery 4). No delivery takes longer than some hours. */
const KEPT_MS = 30 * 24 * 3_600_000;

const log = aggregateStream('delivery', 'notifier', 'Deliveries of events to webhook endpoints');

/**
 * Deliveries of events to webhook endpoints: a log like the others, except that it forgets by age. The api appends too,
 * when a client asks for a test or a replay.
 */
export const deliveries: StreamDefinition = { ...log, config: { ...log.config, max_age: nanos(KEPT_MS) } };
