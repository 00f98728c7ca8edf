import { randomUUID } from 'node:crypto';
import type { KeyContext } from '../../../shared/accounts/accounts-copy.ts';
import type { WebhookEndpoint } from '../../../shared/accounts/webhook-tables.ts';
import { isoTime } from '../../../shared/clock/clock.ts';
import { deliveryDecider } from '../../../shared/domain/delivery.ts';
import type { EventData } from '../../../shared/events/registry.ts';
import { isId } from '../../../shared/ids/ids.ts';
import { webhookKeyName } from '../../../shared/privacy/data-keys.ts';
import { openDeliveryTyped, sealDeliveryTyped } from '../../../shared/privacy/webhook.ts';
import { loadState } from '../../../shared/store/handle.ts';
import { replayDeliveryId } from '../../../shared/webhooks/ids.ts';
import { listReplayable } from '../../../projections/deliveries/queries.ts';
import type { Dependencies } from '../dependencies.ts';
import { ApiError } from '../errors/api-error.ts';
import { whenProjected } from '../read-models/when-projected.ts';
import { findVisibleWebhook, noSuchWebhook } from './load-webhook.ts';
import { queueDelivery } from './queue-delivery.ts';

/** Deliveries that one request queues again: as many as are appended within a second or two. */
export const REPLAYS_MAX = 100;
/** Of these so many at once. */
const AT_ONCE_MAX = 16;

/** What to replay: the events of deliveries that were queued at `since` or later. */
export type ReplayRequest = { readonly since: string; readonly status: 'all' | 'failed' };

/** How much was queued, and from where the next request goes on. */
export type Replayed = { readonly queued: number; readonly nextSince?: string };

/** A request to replay, and the endpoint it is about. */
type Replay = { readonly caller: KeyContext; readonly webhook: WebhookEndpoint; readonly requestId: string; readonly commandId: string };

/**
 * Queues one delivery once more, under the same event id; answers the id of the new one. Throws `ApiError` 404, and 409
 * when the endpoint is disabled or the delivery is a test.
 */
export async function replayOne(deps: Dependencies, caller: KeyContext, webhookId: string, deliveryId: string, requestId: string): Promise<string> {
  const webhook = findVisibleWebhook(deps, caller, webhookId);
  const queued = isId(deliveryId) ? await loadQueued(deps, webhook, deliveryId) : undefined;
  if (!queued) throw ApiError.notFound('There is no such delivery.');
  // Its sample is made for the time and the key of one request; another test is another event.
  if (queued.source.kind === 'test') throw ApiError.of(409, 'validation_failed', 'This delivery is a test. Ask for another by POST /v1/webhooks/<webhook_id>/test.', { reason: 'test_delivery' });
  return await queueAgain(deps, openReplay(caller, webhook, requestId), deliveryId, queued);
}

/**
 * Queues what was queued since a time once more, oldest first, at most `REPLAYS_MAX` in one request. Replays of replays
 * and tests are not among it: each event is sent once. Throws `ApiError` 404, and 409 when the endpoint is disabled.
 */
export async function replaySince(deps: Dependencies, caller: KeyContext, webhookId: string, { since, status }: ReplayRequest, requestId: string): Promise<Replayed> {
  const webhook = findVisibleWebhook(deps, caller, webhookId);
  const replay = openReplay(caller, webhook, requestId);
  await whenProjected(deps, 'DELIVERIES');
  const { deliveries, nextSince } = await listReplayable(deps.pool, { organizationId: caller.organization_id, webhookId, now: isoTime(deps.clock.nowMs()), since, status, limit: REPLAYS_MAX });
  let queued = 0;
  for (let start = 0; start < deliveries.length; start += AT_ONCE_MAX) {
    const some = await Promise.all(
      deliveries.slice(start, start + AT_ONCE_MAX).map(async ({ deliveryId }) => {
        const found = await loadQueued(deps, webhook, deliveryId);
        return found && (await queueAgain(deps, replay, deliveryId, found));
      }),
    );
    queued += some.filter((deliveryId) => deliveryId !== undefined).length;
  }
  return { queued, ...(nextSince === undefined ? {} : { nextSince }) };
}

function openReplay(caller: KeyContext, webhook: WebhookEndpoint, requestId: string): Replay {
  if (!webhook.enabled) throw ApiError.of(409, 'validation_failed', 'The webhook endpoint is disabled.', { reason: 'endpoint_disabled' });
  return { caller, webhook, requestId, commandId: randomUUID() };
}

/** Undefined when the log does not have the delivery any more, or has it for another endpoint. */
async function loadQueued(deps: Dependencies, { webhook_id }: WebhookEndpoint, deliveryId: string): Promise<EventData<'delivery.queued'> | undefined> {
  const { state } = await loadState(deps.store, deliveryDecider, { kind: 'delivery', id: deliveryId });
  return state.kind === 'live' && state.queued.webhook_id === webhook_id ? state.queued : undefined;
}

async function queueAgain(deps: Dependencies, { caller, webhook, requestId, commandId }: Replay, deliveryId: string, queued: EventData<'delivery.queued'>): Promise<string> {
  const replayId = replayDeliveryId(queued.event_id, webhook.webhook_id, commandId);
  const typed = await sealAgain(deps, webhook, queued, deliveryId, replayId);
  await queueDelivery(deps, caller, requestId, replayId, { ...queued, activation: webhook.activation, replay_of: deliveryId, ...typed });
  return replayId;
}

/** What a client typed is bound to its delivery, so that it cannot be moved to another. */
async function sealAgain(deps: Dependencies, { organization_id, webhook_id }: WebhookEndpoint, { typed }: EventData<'delivery.queued'>, from: string, to: string): Promise<Pick<EventData<'delivery.queued'>, 'typed'>> {
  if (typed === undefined) return {};
  const key = await deps.dataKeys.get(webhookKeyName(webhook_id));
  if (!key) throw noSuchWebhook();
  return { typed: sealDeliveryTyped(key, organization_id, to, openDeliveryTyped(key, organization_id, from, typed)) };
}
