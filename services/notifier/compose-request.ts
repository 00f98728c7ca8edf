import type { WebhookEndpoint } from '../../shared/accounts/webhook-tables.ts';
import { isoTime } from '../../shared/clock/clock.ts';
import type { JobView, ShownTyped } from '../../shared/domain/job-view.ts';
import type { LiveDelivery } from '../../shared/domain/delivery.ts';
import { Defect } from '../../shared/errors/errors.ts';
import type { StoredEvent } from '../../shared/events/envelope.ts';
import { webhookKeyName } from '../../shared/privacy/data-keys.ts';
import { openDeliveryTyped, openWebhookDetails, openWebhookSecret } from '../../shared/privacy/webhook.ts';
import { composeBody } from '../../shared/webhooks/body.ts';
import { wireEventId } from '../../shared/webhooks/ids.ts';
import { FORGOTTEN_TYPED, takeSnapshot } from '../../shared/webhooks/job-snapshot.ts';
import { sampleJob } from '../../shared/webhooks/sample-job.ts';
import type { SigningSecrets } from '../../shared/webhooks/sign.ts';
import type { NotifierContext } from './context.ts';

/** A delivery that was loaded; `queued` is its first event as it is stored. */
export type LoadedDelivery = { readonly id: string; readonly state: LiveDelivery; readonly events: readonly StoredEvent[]; readonly queued: StoredEvent };

/** What is sent; the signature is made when it goes out. */
export type ComposedRequest = { readonly url: string; readonly eventId: string; readonly body: Uint8Array; readonly secrets: SigningSecrets };

/**
 * Composes what a delivery sends: the same bytes at every attempt (D66). Undefined when the key of the endpoint is
 * destroyed: it was deleted. Throws `TransientError`.
 */
export async function composeRequest(context: NotifierContext, delivery: LoadedDelivery, endpoint: WebhookEndpoint): Promise<ComposedRequest | undefined> {
  const { webhook_id, organization_id, details, secret, previous } = endpoint;
  const key = await context.dataKeys.get(webhookKeyName(webhook_id));
  if (!key) return undefined;
  const { queued } = delivery.state;
  const typed = queued.typed === undefined ? FORGOTTEN_TYPED : openDeliveryTyped(key, organization_id, delivery.id, queued.typed);
  const { createdAt, job } = await tell(context, delivery, typed);
  const eventId = wireEventId(queued.event_id);
  const open = (sealed: string): string => openWebhookSecret(key, organization_id, webhook_id, sealed);
  return {
    url: openWebhookDetails(key, organization_id, webhook_id, details).url,
    eventId,
    body: composeBody({ eventId, event: queued.event, createdAt, job, isTest: queued.source.kind === 'test' }),
    // The old one signs too until its time is over (§6 signature 4, D68).
    secrets: previous && previous.until > isoTime(context.clock.nowMs()) ? [open(secret), open(previous.secret)] : [open(secret)],
  };
}

type Told = { readonly createdAt: string; readonly job: JobView };

async function tell({ store, objects }: NotifierContext, { state: { queued }, queued: first }: LoadedDelivery, typed: ShownTyped): Promise<Told> {
  const { source } = queued;
  if (source.kind === 'test') {
    const { requested_at: createdAt, api_key_id: apiKeyId } = source;
    const sample = { eventId: queued.event_id, organizationId: first.envelope.tenant, apiKeyId, keyMode: queued.key_mode, atMs: Date.parse(createdAt) };
    return { createdAt, job: await sampleJob(objects, sample) };
  }
  const { job, at } = await takeSnapshot({ store, objects }, { jobId: source.job_id, version: source.version, typed });
  if (job.test_mode !== (queued.key_mode === 'test')) throw new Defect('a delivery tells of a job of the other mode');
  return { createdAt: at, job };
}
