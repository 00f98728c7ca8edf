import { isoTime } from '../clock/clock.ts';
import { accountDecider, type AccountState } from '../domain/account.ts';
import type { Webhook, WebhookCommand } from '../domain/webhooks.ts';
import { Defect, DomainError, TransientError } from '../errors/errors.ts';
import type { Origin } from '../events/envelope.ts';
import type { EventData } from '../events/registry.ts';
import { newId } from '../ids/ids.ts';
import { webhookKeyName } from '../privacy/data-keys.ts';
import { openWebhookSecret, sealWebhookDetails, sealWebhookSecret, type WebhookDetails } from '../privacy/webhook.ts';
import { handle, type Handled } from '../store/handle.ts';
import { newWebhookSecret } from '../webhooks/secret.ts';
import type { AccountsContext } from './manage.ts';

/** What is needed to change webhook endpoints; `jobsEnd` answers the last position of `JOBS`, by its leader. */
export type WebhooksContext = AccountsContext & { readonly jobsEnd: () => Promise<number> };

/** What a client wants of a new endpoint; URL and events are checked by then (D54, D55). */
export type NewWebhook = WebhookDetails & Pick<EventData<'account.webhook_created'>, 'key_mode' | 'events'>;

/** A secret that was just made; shown once. `created_at` is the time of the event, `position` its place in `ACCOUNTS`. */
export type IssuedWebhook = { readonly webhook_id: string; readonly secret: string; readonly created_at: string; readonly position: number };

/**
 * Registers an endpoint of the organization `origin.tenant` (§4.6). It gets every event of a job that is stored after this
 * returns. Throws `DomainError` (`too_many_endpoints`, `too_many_endpoint_changes`), `TransientError`.
 */
export async function createWebhook(context: WebhooksContext, origin: Origin, { key_mode, events, ...details }: NewWebhook): Promise<IssuedWebhook> {
  const organizationId = origin.tenant;
  const webhookId = newId(context.clock.nowMs());
  const key = await context.dataKeys.create(webhookKeyName(webhookId));
  const secret = newWebhookSecret();
  const data = {
    webhook_id: webhookId,
    key_mode,
    events: [...events],
    details: sealWebhookDetails(key, organizationId, webhookId, details),
    secret: sealWebhookSecret(key, organizationId, webhookId, secret),
    jobs_position: await context.jobsEnd(),
  };
  try {
    const { appended } = await change(context, origin, { type: 'create_webhook', data });
    if (appended?.event.type !== 'account.webhook_created') throw new Defect('creating an endpoint created none');
    const { position, envelope, event } = appended;
    return { webhook_id: event.data.webhook_id, secret: await storedSecret(context, organizationId, event.data), created_at: envelope.time, position };
  } catch (error) {
    // Nothing is sealed under it. When the log is away the event may be stored, and the key stays.
    if (error instanceof DomainError) await context.dataKeys.destroy(webhookKeyName(webhookId));
    throw error;
  }
}

/**
 * Removes an endpoint and destroys its key, so that URL, secret and what its deliveries say of jobs are forgotten (D57). With
 * a mode, an endpoint of the other one is not there (D53). Answers the position of the change. Throws `DomainError`
 * (`not_found`), `TransientError`.
 */
export async function deleteWebhook(context: AccountsContext, origin: Origin, webhookId: string, keyMode?: Webhook['key_mode']): Promise<number> {
  const { appended } = await change(context, origin, { type: 'delete_webhook', webhook_id: webhookId, ...(keyMode === undefined ? {} : { key_mode: keyMode }) });
  if (!appended) throw new Defect('deleting an endpoint changed nothing');
  await forgetWebhook(context, webhookId).catch((error: unknown) => {
    // It is deleted all the same; whoever reads the event destroys the key when the key store is back.
    if (!(error instanceof TransientError)) throw error;
  });
  return appended.position;
}

/** Destroys the key of an endpoint that was deleted; safe to repeat. Throws `TransientError`. */
export async function forgetWebhook({ dataKeys }: Pick<AccountsContext, 'dataKeys'>, webhookId: string): Promise<void> {
  await dataKeys.destroy(webhookKeyName(webhookId));
}

/**
 * Disables an endpoint (§6 delivery 3), unless it was enabled anew since `activation`, under which the reason was found.
 * Answers the position of the change, or nothing when there is nothing to disable any more. Throws `TransientError`.
 */
export async function disableWebhook(
  context: AccountsContext,
  origin: Origin,
  webhook: { readonly webhookId: string; readonly activation: number },
  reason: EventData<'account.webhook_disabled'>['reason'],
): Promise<number | undefined> {
  try {
    const data = { webhook_id: webhook.webhookId, reason };
    return (await change(context, origin, { type: 'disable_webhook', data, activation: webhook.activation })).appended?.position;
  } catch (error) {
    // Deleted meanwhile.
    if (error instanceof DomainError) return undefined;
    throw error;
  }
}

/**
 * Enables an endpoint again; what happened until now is never sent to it (D72). Answers the position of the change, or nothing
 * when it was enabled already. Throws `DomainError` (`not_found`), `TransientError`.
 */
export async function enableWebhook(context: WebhooksContext, origin: Origin, webhookId: string): Promise<number | undefined> {
  const data = { webhook_id: webhookId, jobs_position: await context.jobsEnd() };
  return (await change(context, origin, { type: 'enable_webhook', data })).appended?.position;
}

/**
 * Gives an endpoint a new secret; the one before it signs too for `overlapMs`, an older one not any more (D68). Throws
 * `DomainError` (`not_found`), `TransientError`.
 */
export async function rotateWebhookSecret(context: AccountsContext, origin: Origin, webhookId: string, overlapMs: number): Promise<Omit<IssuedWebhook, 'created_at'>> {
  const organizationId = origin.tenant;
  const key = await context.dataKeys.get(webhookKeyName(webhookId));
  if (!key) throw new DomainError('not_found', 'There is no such webhook endpoint.');
  const sealed = sealWebhookSecret(key, organizationId, webhookId, newWebhookSecret());
  const data = { webhook_id: webhookId, secret: sealed, previous_until: isoTime(context.clock.nowMs() + overlapMs) };
  const { appended } = await change(context, origin, { type: 'rotate_webhook_secret', data });
  if (appended?.event.type !== 'account.webhook_secret_rotated') throw new Defect('rotating a secret changed nothing');
  return { webhook_id: webhookId, secret: await storedSecret(context, organizationId, appended.event.data), position: appended.position };
}

/** The secret that is in the log: of the first try, when the same command was sent again. */
async function storedSecret({ dataKeys }: AccountsContext, organizationId: string, { webhook_id, secret }: { readonly webhook_id: string; readonly secret: string }): Promise<string> {
  const key = await dataKeys.get(webhookKeyName(webhook_id));
  if (!key) throw new DomainError('not_found', 'The endpoint was deleted meanwhile.');
  return openWebhookSecret(key, organizationId, webhook_id, secret);
}

async function change(context: AccountsContext, origin: Origin, command: WebhookCommand): Promise<Handled<AccountState>> {
  return handle(context.store, accountDecider, { kind: 'account', id: origin.tenant }, command, origin);
}
