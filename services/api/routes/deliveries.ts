import { z } from 'zod';
import { HISTORY_DEPTH_MAX } from '../../../projections/deliveries/queries.ts';
import { DELIVERY_STATUSES } from '../../../shared/domain/delivery.ts';
import { discardBody } from '../body/read-body.ts';
import type { Dependencies } from '../dependencies.ts';
import { callerOf, pathParameter } from '../http/context.ts';
import { readBody } from '../http/read-body.ts';
import { readQuery } from '../http/read-query.ts';
import { deliveryListShape, queuedDeliveryShape, replayedShape } from '../openapi/webhook-schemas.ts';
import { listHistory } from '../webhooks/list-deliveries.ts';
import { webhookIdOf } from '../webhooks/load-webhook.ts';
import { replayOne, REPLAYS_MAX, replaySince } from '../webhooks/replay.ts';
import { replayBody } from '../webhooks/request-schema.ts';
import { pageFields, PER_PAGE_DEFAULT } from './query-fields.ts';
import type { Route } from './route.ts';
import { deliveryParameters, webhookParameters } from './webhook-parameters.ts';

const historyQuery = z.object({
  ...pageFields('Deliveries', `Page, counted from 1. A page past the end is empty, and so is one that ends beyond the newest ${HISTORY_DEPTH_MAX} deliveries, up to where \`total\` counts.`),
  status: z.enum(DELIVERY_STATUSES, { error: `must be one of ${DELIVERY_STATUSES.join(', ')}` }).optional().describe('Only deliveries of this status.'),
});
const disabledNote = 'An endpoint that is disabled takes none: 409 with `details.reason` `endpoint_disabled`.';

/** What was sent to an endpoint, and sending it again (§6 delivery 4); beyond the contract (§9.2). */
export function deliveryRoutes(deps: Dependencies): readonly Route[] {
  return [historyRoute(deps), replayOneRoute(deps), replaySinceRoute(deps)];
}

function historyRoute(deps: Dependencies): Route {
  return {
    method: 'GET',
    path: '/v1/webhooks/{webhook_id}/deliveries',
    access: 'webhook.read',
    operation: {
      operationId: 'listDeliveries',
      tag: 'Webhooks',
      summary: 'List deliveries to an endpoint, newest first',
      description: 'Of the last 30 days. What was queued before the request is among it, but for a few seconds while very much is being delivered.',
      parameters: webhookParameters,
      query: historyQuery,
      success: { 200: { description: 'One page.', body: deliveryListShape } },
      errors: { 400: ['validation_failed'], 404: ['not_found'] },
    },
    async handle(ctx) {
      const { page = 1, per_page = PER_PAGE_DEFAULT, status } = readQuery(ctx, historyQuery);
      const { deliveries, total } = await listHistory(deps, callerOf(ctx), webhookIdOf(ctx), { page, perPage: per_page, status });
      ctx.body = { data: deliveries, page, per_page, total };
    },
  };
}

function replayOneRoute(deps: Dependencies): Route {
  return {
    method: 'POST',
    path: '/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/replay',
    access: 'webhook.write',
    operation: {
      operationId: 'replayDelivery',
      tag: 'Webhooks',
      summary: 'Send a delivery once more',
      description: `Whatever became of it; under the same event id, with the same body, and with five attempts of its own. ${disabledNote} A test is not repeated: 409 with \`test_delivery\`.`,
      parameters: deliveryParameters,
      success: { 202: { description: 'It is queued.', body: queuedDeliveryShape } },
      errors: { 404: ['not_found'], 409: ['validation_failed'], 413: ['validation_failed'] },
    },
    async handle(ctx) {
      await discardBody(ctx);
      deps.logGuard.requireWritable();
      const delivery_id = await replayOne(deps, callerOf(ctx), webhookIdOf(ctx), pathParameter(ctx, 'delivery_id'), ctx.state.requestId);
      ctx.status = 202;
      ctx.body = { delivery_id, status: 'queued' };
    },
  };
}

function replaySinceRoute(deps: Dependencies): Route {
  return {
    method: 'POST',
    path: '/v1/webhooks/{webhook_id}/replay',
    access: 'webhook.write',
    operation: {
      operationId: 'replayDeliveries',
      tag: 'Webhooks',
      summary: 'Send everything since a time once more',
      description: `For a receiver that was down or lost what it had: each event that was queued for this endpoint since then, oldest first, once, under its own event id. Tests are not among it. A request queues about ${REPLAYS_MAX}; go on with \`next_since\` until it is \`null\`. ${disabledNote}`,
      parameters: webhookParameters,
      body: replayBody,
      success: { 202: { description: 'They are queued.', body: replayedShape } },
      errors: { 400: ['validation_failed'], 404: ['not_found'], 409: ['validation_failed'], 413: ['validation_failed'] },
    },
    async handle(ctx) {
      deps.logGuard.requireWritable();
      const request = await readBody(ctx, replayBody);
      const { queued, nextSince } = await replaySince(deps, callerOf(ctx), webhookIdOf(ctx), request, ctx.state.requestId);
      ctx.status = 202;
      ctx.body = { queued, next_since: nextSince ?? null };
    },
  };
}
