import type { WebhookEndpoint } from '../../shared/accounts/webhook-tables.ts';
import { DONE, type Outcome } from '../../shared/consume/outcome.ts';
import type { WorkerMessage } from '../../shared/consume/worker.ts';
import { EVENT_AGE_MS_MAX } from '../../shared/domain/delivery.ts';
import type { ShownTyped } from '../../shared/domain/job-view.ts';
import { WEBHOOK_EVENTS, type WebhookEvent } from '../../shared/domain/webhooks.ts';
import { ConflictError, Defect } from '../../shared/errors/errors.ts';
import type { StoredEvent } from '../../shared/events/envelope.ts';
import { originFrom } from '../../shared/events/origin.ts';
import type { EventData } from '../../shared/events/registry.ts';
import { deriveId } from '../../shared/ids/ids.ts';
import { webhookKeyName } from '../../shared/privacy/data-keys.ts';
import { sealDeliveryTyped } from '../../shared/privacy/webhook.ts';
import { decodeMessage } from '../../shared/store/stored-message.ts';
import { deliveryIdOf, webhookEventId } from '../../shared/webhooks/ids.ts';
import { openShown } from '../../shared/webhooks/shown-typed.ts';
import type { NotifierContext } from './context.ts';

/** An event of a job and what every delivery of it has in common. */
type Fanned = { readonly cause: StoredEvent; readonly event: WebhookEvent; readonly created: EventData<'job.created'>; readonly typed: ShownTyped | undefined };

/**
 * Queues an event of a job for every endpoint that was subscribed to it when it happened (§6). Ids follow from the event
 * and the endpoint, so an event that comes twice is queued once (D69); one so old that its delivery may be forgotten already
 * is not queued any more. Throws `TransientError`.
 */
export async function fanOut(context: NotifierContext, message: WorkerMessage): Promise<Outcome> {
  const cause = decodeMessage(message.subject, message.position, message.bytes);
  const event = WEBHOOK_EVENTS.find((name) => name === cause.event.type);
  if (event === undefined) throw new Defect('an event came that no endpoint can subscribe to');
  if (context.clock.nowMs() - Date.parse(cause.envelope.time) > EVENT_AGE_MS_MAX) return DONE;
  await context.catchUpAccounts();
  const organizationId = cause.envelope.tenant;
  if (context.accounts.webhooksOf(organizationId).length === 0) return DONE;
  const created = await creationOf(context, cause);
  const subscribers = context.accounts.subscribers(organizationId, created.key_mode, event, cause.position);
  if (subscribers.length === 0) return DONE;
  const fanned = { cause, event, created, typed: await openShown(context.dataKeys, cause.aggregate.id, created) };
  await Promise.all(subscribers.map((endpoint) => queue(context, fanned, endpoint)));
  return DONE;
}

async function creationOf({ store }: NotifierContext, cause: StoredEvent): Promise<EventData<'job.created'>> {
  if (cause.event.type === 'job.created') return cause.event.data;
  const [first] = await store.load(cause.aggregate);
  if (first?.event.type !== 'job.created') throw new Defect('a job does not begin with its creation');
  return first.event.data;
}

async function queue(context: NotifierContext, { cause, event, created, typed }: Fanned, endpoint: WebhookEndpoint): Promise<void> {
  const { webhook_id, organization_id, activation } = endpoint;
  const jobId = cause.aggregate.id;
  const eventId = webhookEventId(jobId, event, cause.position);
  const deliveryId = deliveryIdOf(eventId, webhook_id);
  const key = await context.dataKeys.get(webhookKeyName(webhook_id));
  // It is being deleted.
  if (!key) return;
  const data: EventData<'delivery.queued'> = {
    webhook_id,
    event_id: eventId,
    event,
    activation,
    key_mode: created.key_mode,
    source: { kind: 'job', job_id: jobId, position: cause.position, version: cause.version },
    ...(typed ? { typed: sealDeliveryTyped(key, organization_id, deliveryId, typed) } : {}),
  };
  const origin = originFrom(cause, 'notifier', deriveId('queue', deliveryId), context.clock.nowMs());
  try {
    await context.store.append({ kind: 'delivery', id: deliveryId }, { version: 0 }, { type: 'delivery.queued', data }, origin);
    context.figures.countQueued();
  } catch (error) {
    // Queued before, by us or another.
    if (!(error instanceof ConflictError)) throw error;
  }
}
