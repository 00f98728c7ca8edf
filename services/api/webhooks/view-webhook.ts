import type { WebhookEndpoint } from '../../../shared/accounts/webhook-tables.ts';
import { webhookKeyName } from '../../../shared/privacy/data-keys.ts';
import { openWebhookDetails, type WebhookDetails } from '../../../shared/privacy/webhook.ts';
import type { Dependencies } from '../dependencies.ts';

/** A webhook endpoint as clients see it (§2.4). */
export type WebhookView = {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly description: string;
  readonly enabled: boolean;
  readonly disabled_reason: string | null;
  readonly disabled_at: string | null;
  readonly last_success_at: string | null;
  readonly created_at: string;
};

/** An endpoint as the log tells it, without what was typed. */
type Told = Pick<WebhookEndpoint, 'webhook_id' | 'events' | 'enabled' | 'created_at'> & Partial<Pick<WebhookEndpoint, 'disabled_reason' | 'disabled_at'>>;

/** What the client typed about an endpoint; undefined when its key was destroyed, which only deletion does (D57). */
export async function readDetails(deps: Pick<Dependencies, 'dataKeys'>, webhook: WebhookEndpoint): Promise<WebhookDetails | undefined> {
  const key = await deps.dataKeys.get(webhookKeyName(webhook.webhook_id));
  return key && openWebhookDetails(key, webhook.organization_id, webhook.webhook_id, webhook.details);
}

/** The endpoint with every field of §2.4 but its secret, whether it has a value or not. */
export function viewWebhook(webhook: Told, { url, description = '' }: WebhookDetails, lastSuccessAt: string | undefined): WebhookView {
  return {
    id: webhook.webhook_id,
    url,
    events: webhook.events,
    description,
    enabled: webhook.enabled,
    disabled_reason: webhook.disabled_reason ?? null,
    disabled_at: webhook.disabled_at ?? null,
    last_success_at: lastSuccessAt ?? null,
    created_at: webhook.created_at,
  };
}
