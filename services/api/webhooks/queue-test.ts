import { randomUUID } from 'node:crypto';
import type { KeyContext } from '../../../shared/accounts/accounts-copy.ts';
import { isoTime } from '../../../shared/clock/clock.ts';
import { newId } from '../../../shared/ids/ids.ts';
import type { Dependencies } from '../dependencies.ts';
import { findVisibleWebhook } from './load-webhook.ts';
import { queueDelivery } from './queue-delivery.ts';

/**
 * Queues a sample `job.finished` for an endpoint, whatever it subscribes to and also while it is disabled (§4.6, D58);
 * answers the id of the delivery. Throws `ApiError` 404, `TransientError`.
 */
export async function queueTest(deps: Dependencies, caller: KeyContext, webhookId: string, requestId: string): Promise<string> {
  const { activation } = findVisibleWebhook(deps, caller, webhookId);
  const nowMs = deps.clock.nowMs();
  const deliveryId = newId(nowMs);
  await queueDelivery(deps, caller, requestId, deliveryId, {
    webhook_id: webhookId,
    // Every test is an event of its own.
    event_id: randomUUID(),
    event: 'job.finished',
    activation,
    key_mode: caller.key_mode,
    source: { kind: 'test', requested_at: isoTime(nowMs), api_key_id: caller.api_key_id },
  });
  return deliveryId;
}
