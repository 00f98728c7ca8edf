import type { Webhook } from '../../shared/domain/webhooks.ts';
import type { DomainEventOf, EventData } from '../../shared/events/registry.ts';
import { deriveId } from '../../shared/ids/ids.ts';

/** Text that has the form of a sealed field. */
export const SEALED = 'v1.bm9uY2U.dGV4dA';
export const WEBHOOK_ID = deriveId('webhook', 1);

/** The moment of the first event of these tests; `at` counts from it. */
const START_MS = Date.parse('2026-01-01T00:00:00.000Z');

/** ISO time so many ms after the start. */
export function at(ms: number): string {
  return new Date(START_MS + ms).toISOString();
}

/** `account.created`. */
export const accountCreated: DomainEventOf<'account.created'> = { type: 'account.created', data: { plan: 'free', name: SEALED } };

/** `account.webhook_created`, of live jobs unless told otherwise. */
export function webhookCreated(data: Partial<EventData<'account.webhook_created'>> = {}): DomainEventOf<'account.webhook_created'> {
  return {
    type: 'account.webhook_created',
    data: { webhook_id: WEBHOOK_ID, key_mode: 'live', events: ['job.finished', 'job.failed'], details: SEALED, secret: 'v1.c2Vj.MQ', jobs_position: 7, ...data },
  };
}

/** `account.webhook_deleted`. */
export function webhookDeleted(webhook_id = WEBHOOK_ID): DomainEventOf<'account.webhook_deleted'> {
  return { type: 'account.webhook_deleted', data: { webhook_id } };
}

/** `account.webhook_disabled`. */
export function webhookDisabled(reason: NonNullable<Webhook['disabled_reason']> = 'gone_410', webhook_id = WEBHOOK_ID): DomainEventOf<'account.webhook_disabled'> {
  return { type: 'account.webhook_disabled', data: { webhook_id, reason } };
}

/** `account.webhook_enabled`. */
export function webhookEnabled(jobs_position: number, webhook_id = WEBHOOK_ID): DomainEventOf<'account.webhook_enabled'> {
  return { type: 'account.webhook_enabled', data: { webhook_id, jobs_position } };
}

/** `account.webhook_secret_rotated`; the secret is told apart by its number. */
export function secretRotated(number: number, previous_until: string, webhook_id = WEBHOOK_ID): DomainEventOf<'account.webhook_secret_rotated'> {
  return { type: 'account.webhook_secret_rotated', data: { webhook_id, secret: `v1.c2Vj.${number}`, previous_until } };
}

/** `delivery.queued`, of a job's event unless told otherwise. */
export function deliveryQueued(data: Partial<EventData<'delivery.queued'>> = {}): DomainEventOf<'delivery.queued'> {
  return {
    type: 'delivery.queued',
    data: {
      webhook_id: WEBHOOK_ID, event_id: deriveId('event', 1), event: 'job.finished', activation: 2, key_mode: 'live',
      source: { kind: 'job', job_id: deriveId('job', 1), position: 9, version: 4 }, typed: SEALED, ...data,
    },
  };
}

/** `delivery.attempt_started`, `ms` after the start. */
export function attemptStarted(attempt: number, ms: number): DomainEventOf<'delivery.attempt_started'> {
  return { type: 'delivery.attempt_started', data: { attempt, started_at: at(ms) } };
}

/** `delivery.attempted` with a failure; the next attempt is due `nextMs` after the start, or there is none. */
export function attemptFailed(attempt: number, nextMs?: number, data: Partial<EventData<'delivery.attempted'>> = {}): DomainEventOf<'delivery.attempted'> {
  const next = nextMs === undefined ? {} : { next_attempt_at: at(nextMs) };
  return { type: 'delivery.attempted', data: { attempt, outcome: 'failed', failure: 'http_status', status_code: 500, duration_ms: 30, ...next, ...data } };
}

/** `delivery.attempted` of an attempt that nobody recorded. */
export function attemptInterrupted(attempt: number, duration_ms: number, nextMs?: number): DomainEventOf<'delivery.attempted'> {
  return { type: 'delivery.attempted', data: { attempt, outcome: 'failed', failure: 'interrupted', duration_ms, ...(nextMs === undefined ? {} : { next_attempt_at: at(nextMs) }) } };
}

/** `delivery.attempted` with success. */
export function attemptDelivered(attempt: number): DomainEventOf<'delivery.attempted'> {
  return { type: 'delivery.attempted', data: { attempt, outcome: 'delivered', status_code: 204, duration_ms: 30 } };
}

/** `delivery.stopped`. */
export const deliveryStopped: DomainEventOf<'delivery.stopped'> = { type: 'delivery.stopped', data: { reason: 'endpoint_disabled' } };
