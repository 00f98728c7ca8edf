import type { z } from 'zod';
import * as account from './account.ts';
import * as credits from './credits.ts';
import * as delivery from './delivery.ts';
import * as job from './job.ts';
import * as webhook from './webhook.ts';

/** One version of one event type: its schema, and how to make the next version out of it. */
export type EventVersion = {
  readonly schema: z.ZodObject;
  /** Lifts data of this version to the next one; absent on the latest. Pure. */
  readonly upcast?: (data: unknown) => unknown;
};

/** Every event type and every version of it that was ever shipped, oldest first. Old versions are never removed. */
export const EVENT_VERSIONS = {
  'job.created': [{ schema: job.jobCreatedV1 }],
  'job.multipart_started': [{ schema: job.jobMultipartStartedV1 }],
  'job.multipart_completed': [{ schema: job.jobMultipartCompletedV1 }],
  'job.multipart_aborted': [{ schema: job.jobMultipartAbortedV1 }],
  'job.source_received': [{ schema: job.jobSourceReceivedV1 }],
  'job.conversion_started': [{ schema: job.jobConversionStartedV1 }],
  'job.conversion_interrupted': [{ schema: job.jobConversionInterruptedV1 }],
  'job.conversion_progressed': [{ schema: job.jobConversionProgressedV1 }],
  'job.finished': [{ schema: job.jobFinishedV1 }],
  'job.failed': [{ schema: job.jobFailedV1 }],
  'job.cancelled': [{ schema: job.jobCancelledV1 }],
  'job.expired': [{ schema: job.jobExpiredV1 }],
  'job.deleted': [{ schema: job.jobDeletedV1 }],
  'credits.granted': [{ schema: credits.creditsGrantedV1 }],
  'credits.held': [{ schema: credits.creditsHeldV1 }],
  'credits.charged': [{ schema: credits.creditsChargedV1 }],
  'credits.released': [{ schema: credits.creditsReleasedV1 }],
  'account.created': [{ schema: account.accountCreatedV1 }],
  'account.plan_changed': [{ schema: account.accountPlanChangedV1 }],
  'account.api_key_created': [{ schema: account.accountApiKeyCreatedV1 }],
  'account.api_key_rotated': [{ schema: account.accountApiKeyRotatedV1 }],
  'account.api_key_revoked': [{ schema: account.accountApiKeyRevokedV1 }],
  'account.webhook_created': [{ schema: webhook.accountWebhookCreatedV1 }],
  'account.webhook_deleted': [{ schema: webhook.accountWebhookDeletedV1 }],
  'account.webhook_disabled': [{ schema: webhook.accountWebhookDisabledV1 }],
  'account.webhook_enabled': [{ schema: webhook.accountWebhookEnabledV1 }],
  'account.webhook_secret_rotated': [{ schema: webhook.accountWebhookSecretRotatedV1 }],
  'delivery.queued': [{ schema: delivery.deliveryQueuedV1 }],
  'delivery.attempt_started': [{ schema: delivery.deliveryAttemptStartedV1 }],
  'delivery.attempted': [{ schema: delivery.deliveryAttemptedV1 }],
  'delivery.stopped': [{ schema: delivery.deliveryStoppedV1 }],
} as const satisfies Record<string, readonly EventVersion[]>;

type Latest<Versions extends readonly EventVersion[]> = Versions extends readonly [...EventVersion[], infer Last extends EventVersion]
  ? z.infer<Last['schema']>
  : never;
type Registry = typeof EVENT_VERSIONS;

/** Name of an event type, `<aggregate>.<what happened>`. */
export type EventType = keyof Registry;
/** An event as the domain sees it: type and data of the latest version. */
export type DomainEventOf<Type extends EventType> = { [T in Type]: { readonly type: T; readonly data: Latest<Registry[T]> } }[Type];
export type DomainEvent = DomainEventOf<EventType>;

/** Kinds of aggregate; each has its stream. */
export const AGGREGATE_KINDS = ['job', 'credits', 'account', 'delivery'] as const;
export type AggregateKind = (typeof AGGREGATE_KINDS)[number];
export type JobEvent = DomainEventOf<Extract<EventType, `job.${string}`>>;
export type CreditsEvent = DomainEventOf<Extract<EventType, `credits.${string}`>>;
export type AccountEvent = DomainEventOf<Extract<EventType, `account.${string}`>>;
export type DeliveryEvent = DomainEventOf<Extract<EventType, `delivery.${string}`>>;

/** Data of one event type, latest version. */
export type EventData<Type extends EventType> = Latest<Registry[Type]>;

/** True when the name is that of a registered event type. */
export function isEventType(type: string): type is EventType {
  return Object.hasOwn(EVENT_VERSIONS, type);
}

/** Number of the latest version of an event type, from 1. */
export function latestVersion(type: EventType): number {
  return EVENT_VERSIONS[type].length;
}
