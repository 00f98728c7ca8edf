import { nanos } from '@nats-io/transport-node';
import { DELIVERIES_KEPT_MS } from '../shared/domain/delivery.ts';
import { aggregateStream } from './aggregate-stream.ts';
import type { StreamDefinition } from './definition.ts';

const log = aggregateStream('delivery', 'notifier', 'Deliveries of events to webhook endpoints');

/**
 * Deliveries of events to webhook endpoints: a log like the others, except that it forgets by age. The api appends too,
 * when a client asks for a test or a replay.
 */
export const deliveries: StreamDefinition = { ...log, config: { ...log.config, max_age: nanos(DELIVERIES_KEPT_MS) } };
