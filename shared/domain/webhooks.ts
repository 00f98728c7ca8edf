import { DomainError } from '../errors/errors.ts';
import { webhookEvent } from '../events/fields.ts';
import type { AccountEvent, DomainEventOf, EventData } from '../events/registry.ts';

/** Names of the events that endpoints can subscribe to (§6); all of them when a client names none (D54). */
export const WEBHOOK_EVENTS = webhookEvent.options;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/** Endpoints that an organization may have, those of both modes together (§8, D53). */
export const WEBHOOK_ENDPOINTS_MAX = 20;

/**
 * Events of an account after which no endpoint is created any more. An account is loaded whole for every change of it, at most
 * 100,000 events: however long a client registers and removes endpoints, an operator can still revoke its keys.
 */
export const ACCOUNT_EVENTS_MAX = 50_000;

/** A webhook endpoint as the log tells it; what was typed and the secrets are sealed. */
export type Webhook = EventData<'account.webhook_created'> & {
  /** Version of the account's event that last enabled it; deliveries that were queued under another one are over (D72). */
  readonly activation: number;
  /** The secret before this one, which signs too until `until`; there are never three (D68). */
  readonly previous?: { readonly secret: string; readonly until: string };
  /** Why it is disabled; absent while it is enabled. */
  readonly disabled_reason?: EventData<'account.webhook_disabled'>['reason'];
};

export type WebhookCommand =
  | { readonly type: 'create_webhook'; readonly data: EventData<'account.webhook_created'> }
  /** With a mode, an endpoint of the other one is not there (D53). */
  | { readonly type: 'delete_webhook'; readonly webhook_id: string; readonly key_mode?: Webhook['key_mode'] }
  /** With an activation, only if that is the present one: what an attempt found before the endpoint was enabled again does not count. */
  | { readonly type: 'disable_webhook'; readonly data: EventData<'account.webhook_disabled'>; readonly activation?: number }
  | { readonly type: 'enable_webhook'; readonly data: EventData<'account.webhook_enabled'> }
  | { readonly type: 'rotate_webhook_secret'; readonly data: EventData<'account.webhook_secret_rotated'> };

/** Events of an account that are about its endpoints. */
export type WebhookAccountEvent = DomainEventOf<Extract<AccountEvent['type'], `account.webhook_${string}`>>;

type Webhooks = ReadonlyMap<string, Webhook>;

/**
 * Rules of webhook endpoints (§4.6, §6, D53, D68, D72), in an account that has `version` events. An endpoint that was deleted
 * is not there any more.
 */
export function decideWebhook(command: WebhookCommand, webhooks: Webhooks, version: number): WebhookAccountEvent | null {
  switch (command.type) {
    case 'create_webhook':
      return create(command.data, webhooks, version);
    case 'delete_webhook': {
      const { webhook_id } = requireWebhook(command.webhook_id, webhooks, command.key_mode);
      return { type: 'account.webhook_deleted', data: { webhook_id } };
    }
    case 'disable_webhook': {
      const webhook = requireWebhook(command.data.webhook_id, webhooks);
      const isMeant = command.activation === undefined || command.activation === webhook.activation;
      return isMeant && isEnabled(webhook) ? { type: 'account.webhook_disabled', data: command.data } : null;
    }
    case 'enable_webhook':
      return isEnabled(requireWebhook(command.data.webhook_id, webhooks)) ? null : { type: 'account.webhook_enabled', data: command.data };
    case 'rotate_webhook_secret':
      requireWebhook(command.data.webhook_id, webhooks);
      return { type: 'account.webhook_secret_rotated', data: command.data };
    default:
      return command satisfies never;
  }
}

/** The endpoints after one event, which is the account's event of this version. */
export function evolveWebhooks(webhooks: Webhooks, event: WebhookAccountEvent, version: number): Webhooks {
  const next = new Map(webhooks);
  if (event.type === 'account.webhook_created') return next.set(event.data.webhook_id, { ...event.data, activation: version });
  const { webhook_id } = event.data;
  const webhook = requireWebhook(webhook_id, webhooks);
  switch (event.type) {
    case 'account.webhook_deleted':
      next.delete(webhook_id);
      return next;
    case 'account.webhook_disabled':
      return next.set(webhook_id, { ...webhook, disabled_reason: event.data.reason });
    case 'account.webhook_enabled': {
      const { disabled_reason: _reason, ...enabled } = webhook;
      return next.set(webhook_id, { ...enabled, activation: version, jobs_position: event.data.jobs_position });
    }
    case 'account.webhook_secret_rotated':
      return next.set(webhook_id, { ...webhook, secret: event.data.secret, previous: { secret: webhook.secret, until: event.data.previous_until } });
    default:
      return event satisfies never;
  }
}

/** True while events are queued for the endpoint. */
export function isEnabled(webhook: Webhook): boolean {
  return webhook.disabled_reason === undefined;
}

function create(data: EventData<'account.webhook_created'>, webhooks: Webhooks, version: number): WebhookAccountEvent {
  if (webhooks.has(data.webhook_id)) throw new DomainError('already_exists', 'The webhook endpoint exists already.');
  if (webhooks.size >= WEBHOOK_ENDPOINTS_MAX) {
    throw new DomainError('too_many_endpoints', `The organization has ${webhooks.size} webhook endpoints already.`, { limit: WEBHOOK_ENDPOINTS_MAX });
  }
  if (version >= ACCOUNT_EVENTS_MAX) throw new DomainError('too_many_endpoint_changes', 'The organization has registered and removed endpoints too often.');
  return { type: 'account.webhook_created', data };
}

function requireWebhook(id: string, webhooks: Webhooks, keyMode?: Webhook['key_mode']): Webhook {
  const webhook = webhooks.get(id);
  if (!webhook || (keyMode !== undefined && webhook.key_mode !== keyMode)) throw new DomainError('not_found', 'There is no such webhook endpoint.');
  return webhook;
}
