import { JetStreamApiCodes, JetStreamApiError, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { toTransient } from '../../../shared/nats/transient.ts';
import { STREAM_OF } from '../../../shared/store/subjects.ts';

/** Durable with which notifiers follow the events of jobs. */
const FAN_OUT_DURABLE = 'notifier-fan-out';

/**
 * Position of `JOBS` up to which notifiers have queued every event for its endpoints, at most `jobsEnd`; 0 where there
 * never was one. Throws `TransientError`.
 */
export async function readFannedOut(nc: NatsConnection, jobsEnd: number): Promise<number> {
  try {
    const manager = await jetstreamManager(nc, { checkAPI: false });
    const { ack_floor, num_pending, num_ack_pending } = await manager.consumers.info(STREAM_OF.job, FAN_OUT_DURABLE);
    return num_pending === 0 && num_ack_pending === 0 ? jobsEnd : Math.min(ack_floor.stream_seq, jobsEnd);
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.ConsumerNotFound) return 0;
    throw toTransient(error);
  }
}
