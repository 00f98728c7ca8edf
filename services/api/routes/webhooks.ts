import { discardBody } from '../body/read-body.ts';
import type { Dependencies } from '../dependencies.ts';
import { callerOf } from '../http/context.ts';
import { readBody } from '../http/read-body.ts';
import { untilOver } from '../http/until-over.ts';
import { createdWebhookShape, queuedDeliveryShape, webhookListShape } from '../openapi/webhook-schemas.ts';
import { createEndpoint, deleteEndpoint } from '../webhooks/change-webhooks.ts';
import { listWebhooks } from '../webhooks/list-webhooks.ts';
import { webhookIdOf } from '../webhooks/load-webhook.ts';
import { queueTest } from '../webhooks/queue-test.ts';
import { createWebhookBody } from '../webhooks/request-schema.ts';
import { deliveryRoutes } from './deliveries.ts';
import type { Route } from './route.ts';
import { webhookParameters } from './webhook-parameters.ts';

/** Webhook endpoints of the caller's organization and mode (§4.6). */
export function webhookRoutes(deps: Dependencies): readonly Route[] {
  return [createRoute(deps), listRoute(deps), deleteRoute(deps), testRoute(deps), ...deliveryRoutes(deps)];
}

function createRoute(deps: Dependencies): Route {
  return {
    method: 'POST',
    path: '/v1/webhooks',
    access: 'webhook.write',
    operation: {
      operationId: 'createWebhook',
      tag: 'Webhooks',
      summary: 'Register a webhook endpoint',
      description: 'Events of jobs of the same mode are sent to it from now on. The answer is the only one that holds `secret`. An organization has at most 20 endpoints, those of both modes together: then 400 with `details.reason` `too_many_endpoints`; one that has registered and removed tens of thousands gets `too_many_endpoint_changes`. A URL that is not allowed is named in `details.issues`; nothing is sent to it for that.',
      body: createWebhookBody,
      success: { 201: { description: 'The endpoint, with its secret.', body: createdWebhookShape } },
      errors: { 400: ['validation_failed'], 413: ['validation_failed'] },
    },
    async handle(ctx) {
      deps.logGuard.requireWritable();
      const body = await readBody(ctx, createWebhookBody);
      const created = await createEndpoint(deps, callerOf(ctx), body, ctx.state.requestId, untilOver(ctx.res, deps.stopping));
      ctx.state.webhookId = created.id;
      ctx.status = 201;
      ctx.body = created;
    },
  };
}

function listRoute(deps: Dependencies): Route {
  return {
    method: 'GET',
    path: '/v1/webhooks',
    access: 'webhook.read',
    operation: {
      operationId: 'listWebhooks',
      tag: 'Webhooks',
      summary: 'List webhook endpoints, newest first',
      description: 'Secrets are never among it. An endpoint that was disabled is enabled again by the operator of the service, and so is a secret replaced.',
      success: { 200: { description: 'All of them.', body: webhookListShape } },
    },
    async handle(ctx) {
      ctx.body = { data: await listWebhooks(deps, callerOf(ctx)) };
    },
  };
}

function deleteRoute(deps: Dependencies): Route {
  return {
    method: 'DELETE',
    path: '/v1/webhooks/{webhook_id}',
    access: 'webhook.write',
    operation: {
      operationId: 'deleteWebhook',
      tag: 'Webhooks',
      summary: 'Delete a webhook endpoint and its history',
      description: 'Deliveries that are under way are not tried again. 404 means that it is deleted already.',
      parameters: webhookParameters,
      success: { 204: { description: 'The endpoint, its secret and its history are gone.' } },
      errors: { 404: ['not_found'], 413: ['validation_failed'] },
    },
    async handle(ctx) {
      await discardBody(ctx);
      deps.logGuard.requireWritable();
      await deleteEndpoint(deps, callerOf(ctx), webhookIdOf(ctx), ctx.state.requestId);
      ctx.status = 204;
    },
  };
}

function testRoute(deps: Dependencies): Route {
  return {
    method: 'POST',
    path: '/v1/webhooks/{webhook_id}/test',
    access: 'webhook.write',
    operation: {
      operationId: 'testWebhook',
      tag: 'Webhooks',
      summary: 'Send a sample event',
      description: 'Queues a signed `job.finished` with `"test": true`, whatever events the endpoint subscribes to, and tries it as often as any other. A disabled endpoint gets it too, and stays disabled. A success shows in `last_success_at`; a failure disables nothing, but for 410.',
      parameters: webhookParameters,
      success: { 202: { description: 'The sample is queued.', body: queuedDeliveryShape } },
      errors: { 404: ['not_found'], 413: ['validation_failed'] },
    },
    async handle(ctx) {
      await discardBody(ctx);
      deps.logGuard.requireWritable();
      const delivery_id = await queueTest(deps, callerOf(ctx), webhookIdOf(ctx), ctx.state.requestId);
      ctx.status = 202;
      ctx.body = { delivery_id, status: 'queued' };
    },
  };
}
