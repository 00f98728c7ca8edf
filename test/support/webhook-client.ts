import type { DeliveryView } from '../../services/api/webhooks/list-deliveries.ts';
import type { WebhookView } from '../../services/api/webhooks/view-webhook.ts';
import { waitFor } from '../../services/standalone/processes.ts';
import { TestClient, type Answer } from './client.ts';

/** A delivery takes milliseconds, on a busy machine seconds. */
const DELIVERED_LIMIT_MS = 40_000;

/** An endpoint in the answer of its creation. */
export type CreatedWebhook = WebhookView & { readonly secret: string };
/** One page of a history. */
export type History = { readonly data: readonly DeliveryView[]; readonly page: number; readonly per_page: number; readonly total: number };
/** Answer to a test or a replay. */
export type Queued = { readonly delivery_id: string; readonly status: string };

/** A client of webhook endpoints. */
export class WebhookClient extends TestClient {
  /** Registers an endpoint; the test fails on any other answer than 201. */
  async register(url: string, more: Readonly<Record<string, unknown>> = {}): Promise<CreatedWebhook> {
    return required(201, await this.send<CreatedWebhook>('POST', '/v1/webhooks', { json: { url, ...more } }));
  }

  async webhooks(): Promise<readonly WebhookView[]> {
    return required(200, await this.send<{ data: readonly WebhookView[] }>('GET', '/v1/webhooks')).data;
  }

  remove(webhookId: string): Promise<Answer> {
    return this.send('DELETE', `/v1/webhooks/${webhookId}`);
  }

  async test(webhookId: string): Promise<Queued> {
    return required(202, await this.send<Queued>('POST', `/v1/webhooks/${webhookId}/test`));
  }

  async history(webhookId: string, query = ''): Promise<History> {
    return required(200, await this.send<History>('GET', `/v1/webhooks/${webhookId}/deliveries${query}`));
  }

  /** Waits until a delivery has come to some status. */
  async untilDelivery(webhookId: string, deliveryId: string, ...statuses: readonly DeliveryView['status'][]): Promise<DeliveryView> {
    return this.untilHistory(webhookId, ({ id, status }) => id === deliveryId && statuses.includes(status));
  }

  /** Waits until the newest hundred deliveries to an endpoint hold one that is meant. */
  async untilHistory(webhookId: string, isMeant: (delivery: DeliveryView) => boolean): Promise<DeliveryView> {
    return waitFor(`a delivery to ${webhookId}`, DELIVERED_LIMIT_MS, async () => (await this.history(webhookId, '?per_page=100')).data.find(isMeant));
  }

  /** Waits until an endpoint is as it is meant to be. */
  async untilWebhook(webhookId: string, isMeant: (webhook: WebhookView) => boolean): Promise<WebhookView> {
    return waitFor(`webhook endpoint ${webhookId}`, DELIVERED_LIMIT_MS, async () => (await this.webhooks()).find((webhook) => webhook.id === webhookId && isMeant(webhook)));
  }
}

function required<Body>(status: number, answer: Answer<Body>): Body {
  if (answer.status !== status) throw new Error(`answered ${answer.status}, not ${status}: ${answer.bytes.toString()}`);
  return answer.body;
}
