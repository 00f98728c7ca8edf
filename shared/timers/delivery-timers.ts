import type { NatsConnection } from '@nats-io/transport-node';
import { readStream, streamExtent } from '../consume/read-stream.ts';
import { deliveryDecider, isDeliveryOver, type DeliveryState } from '../domain/delivery.ts';
import type { DeliveryEvent } from '../events/registry.ts';
import { STREAM_OF } from '../store/subjects.ts';
import { decodeMessage } from '../store/stored-message.ts';
import type { Timer } from './timers.ts';

/**
 * The timers of all deliveries that have not ended, out of the log: when the next attempt is due, or now. Keeps those
 * deliveries in memory. Answers what it has when `signal` is aborted; throws `TransientError`.
 */
export async function readDeliveryTimers(nc: NatsConnection, nowMs: number, signal?: AbortSignal): Promise<readonly Timer[]> {
  const deliveries = new Map<string, DeliveryState>();
  const { first, last } = await streamExtent(nc, STREAM_OF.delivery);
  for await (const message of readStream(nc, STREAM_OF.delivery, first, last)) {
    if (signal?.aborted === true) break;
    const { aggregate, event } = decodeMessage(message.subject, message.position, message.bytes);
    // The stream DELIVERIES holds events of deliveries only; `decode` checked it. One whose beginning was forgotten is gone.
    const state = deliveryDecider.evolve(deliveries.get(aggregate.id) ?? deliveryDecider.initialState, event as DeliveryEvent);
    if (state.kind === 'none' || isDeliveryOver(state)) deliveries.delete(aggregate.id);
    else deliveries.set(aggregate.id, state);
  }
  return [...deliveries].map(([deliveryId, state]) => timerOf(deliveryId, state, nowMs));
}

/** Also of an attempt that is open: whoever was making it may be gone, and whoever comes too early sees that. */
function timerOf(deliveryId: string, state: DeliveryState, nowMs: number): Timer {
  const due = state.kind === 'live' ? state.next_attempt_at : undefined;
  return { kind: 'webhook_attempt', subjectTokens: [deliveryId], dueAtMs: due === undefined ? nowMs : Date.parse(due) };
}
