import type { WebhookEvent } from '../domain/webhooks.ts';
import { deriveId } from '../ids/ids.ts';

/** Id of an event of a job, the same at every endpoint and in every replay (D69): it follows from where the event lies in `JOBS`. */
export function webhookEventId(jobId: string, event: WebhookEvent, position: number): string {
  return deriveId('webhook-event', jobId, event, position);
}

/** Id of the delivery of an event to an endpoint: whoever queues it a second time finds it queued. */
export function deliveryIdOf(eventId: string, webhookId: string): string {
  return deriveId('delivery', eventId, webhookId);
}

/** Id of a delivery that is made once more because of a command; the same command asked again queues it once. */
export function replayDeliveryId(eventId: string, webhookId: string, commandId: string): string {
  return deriveId('delivery', eventId, webhookId, commandId);
}

/** An event's id as receivers see it, `evt_<uuid>` (§6). */
export function wireEventId(eventId: string): string {
  return `evt_${eventId}`;
}
