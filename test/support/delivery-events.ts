import { randomUUID } from 'node:crypto';
import type { AggregateRef, StoredEvent } from '../../shared/events/envelope.ts';
import type { DeliveryEvent, DomainEvent, DomainEventOf, EventData } from '../../shared/events/registry.ts';
import { newId } from '../../shared/ids/ids.ts';
import { afterLast, type EventStore } from '../../shared/store/event-store.ts';
import { originOf } from './events.ts';
import { API_KEY_ID, ORGANIZATION_ID } from './job-events.ts';

/** Endpoint of tests that need one only. */
export const WEBHOOK_ID = '0190a000-0000-7000-8000-0000000000e1';
/** Day on which the deliveries of these tests begin, in ms; months ago for any clock that runs them. */
export const QUEUED_MS = Date.parse('2026-01-01T00:00:00.000Z');
const SEALED = 'v1.bm9uY2U.dGV4dA';

/** A new delivery. */
export function newDelivery(): AggregateRef {
  return { kind: 'delivery', id: newId(Date.now()) };
}

/** `delivery.queued` of an event of a job; what matters to a test is given over. */
export function queued(data: Partial<EventData<'delivery.queued'>> = {}): DomainEventOf<'delivery.queued'> {
  return {
    type: 'delivery.queued',
    data: {
      webhook_id: WEBHOOK_ID,
      event_id: randomUUID(),
      event: 'job.finished',
      activation: 2,
      key_mode: 'live',
      source: { kind: 'job', job_id: newId(Date.now()), position: 7, version: 4 },
      typed: SEALED,
      ...data,
    },
  };
}

/** A test delivery as it is queued. */
export function queuedTest(data: Partial<EventData<'delivery.queued'>> = {}): DomainEventOf<'delivery.queued'> {
  const { typed: _typed, ...rest } = queued(data).data;
  return { type: 'delivery.queued', data: { ...rest, source: { kind: 'test', requested_at: new Date(QUEUED_MS).toISOString(), api_key_id: API_KEY_ID } } };
}

export function attemptStarted(attempt = 1, atMs = QUEUED_MS + 10): DomainEventOf<'delivery.attempt_started'> {
  return { type: 'delivery.attempt_started', data: { attempt, started_at: new Date(atMs).toISOString() } };
}

export function delivered(attempt = 1): DomainEventOf<'delivery.attempted'> {
  return { type: 'delivery.attempted', data: { attempt, outcome: 'delivered', status_code: 204, duration_ms: 12 } };
}

/** A failed attempt; with a time, another one follows. */
export function attemptFailed(attempt = 1, nextMs?: number, data: Partial<EventData<'delivery.attempted'>> = {}): DomainEventOf<'delivery.attempted'> {
  return {
    type: 'delivery.attempted',
    data: { attempt, outcome: 'failed', failure: 'http_status', status_code: 503, duration_ms: 34, ...(nextMs === undefined ? {} : { next_attempt_at: new Date(nextMs).toISOString() }), ...data },
  };
}

export const stopped: DomainEventOf<'delivery.stopped'> = { type: 'delivery.stopped', data: { reason: 'endpoint_disabled' } };

/** Events that lead to every status of a delivery. */
export const DELIVERY_HISTORIES = {
  queued: () => [queued()],
  'queued with an open attempt': () => [queued(), attemptStarted()],
  retrying: () => [queued(), attemptStarted(), attemptFailed(1, QUEUED_MS + 60_000)],
  delivered: () => [queued(), attemptStarted(), delivered()],
  'delivered at the second attempt': () => [queued(), attemptStarted(), attemptFailed(1, QUEUED_MS + 60_000), attemptStarted(2, QUEUED_MS + 60_001), delivered(2)],
  failed: () => [queued(), attemptStarted(), attemptFailed(1, undefined, { status_code: 410 })],
  stopped: () => [queued(), stopped],
  'delivered test': () => [queuedTest(), attemptStarted(), delivered()],
} as const satisfies Record<string, () => readonly DeliveryEvent[]>;

/** Appends events to one aggregate in order, a millisecond apart from `atMs` on, as of the organization of these tests. */
export async function appendAt(store: EventStore, aggregate: AggregateRef, events: readonly DomainEvent[], atMs: number = QUEUED_MS): Promise<readonly StoredEvent[]> {
  const before = await store.load(aggregate);
  const stored: StoredEvent[] = [...before];
  for (const [index, event] of events.entries()) stored.push(await store.append(aggregate, afterLast(stored), event, { ...originOf(aggregate), tenant: ORGANIZATION_ID, nowMs: atMs + index }));
  return stored.slice(before.length);
}

/** Appends one delivery for each history, one after the other; answers all events as stored. */
export async function appendDeliveries(store: EventStore, repeats = 1, atMs: number = QUEUED_MS): Promise<readonly StoredEvent[]> {
  const all: StoredEvent[] = [];
  for (const events of Array.from({ length: repeats }, () => Object.values(DELIVERY_HISTORIES)).flat()) all.push(...(await appendAt(store, newDelivery(), events(), atMs)));
  return all;
}
