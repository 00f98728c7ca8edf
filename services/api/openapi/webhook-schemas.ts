import { z } from 'zod';
import { DELIVERY_STATUSES } from '../../../shared/domain/delivery.ts';
import { deliveryAttemptedV1 } from '../../../shared/events/delivery.ts';
import { webhookEvent } from '../../../shared/events/fields.ts';
import { accountWebhookDisabledV1 } from '../../../shared/events/webhook.ts';
import { timestamp, uuid } from './schemas.ts';

const WEBHOOK_EXAMPLE = {
  id: '0190a6c2-0c1d-7b52-8a34-6d0f5b7e9c10',
  url: 'https://hooks.example.com/conversions',
  events: ['job.finished', 'job.failed'],
  description: 'Tells the shop',
  enabled: true,
  disabled_reason: null,
  disabled_at: null,
  last_success_at: '2026-11-21T09:30:06.250Z',
  created_at: '2026-11-20T16:02:11.004Z',
};

const webhookFields = z.object({
  id: uuid('Endpoint identifier.'),
  url: z.string().describe('Where events are sent, as it was given.'),
  events: z.array(webhookEvent).min(1).describe('Events that are sent to it; all four when none were named.'),
  description: z.string().describe('As given; empty when none was.'),
  enabled: z.boolean().describe('False when it was disabled because of its answers. Nothing is queued for it then.'),
  disabled_reason: accountWebhookDisabledV1.shape.reason.nullable().describe('`gone_410`: it answered 410. `failing_5_days`: for five days no delivery succeeded. `null` while enabled.'),
  disabled_at: timestamp('When it was disabled.').nullable(),
  last_success_at: timestamp('When a delivery last succeeded, however long ago; tests count.').nullable(),
  created_at: timestamp('When it was created.'),
});

/** A webhook endpoint as lists show it (§2.4); its secret is not among it. */
export const webhookShape = webhookFields.meta({ id: 'Webhook', examples: [WEBHOOK_EXAMPLE] });

/** A webhook endpoint that was just created: the one answer that has its secret (§4.6). */
export const createdWebhookShape = webhookFields
  .extend({ secret: z.string().regex(/^whsec_/).describe('Signs every delivery. Only in the answer of the creation; keep it.') })
  .meta({ id: 'CreatedWebhook', examples: [{ ...WEBHOOK_EXAMPLE, last_success_at: null, secret: 'whsec_c2VjcmV0IG9mIDMyIGJ5dGVzLCBmb3IgZXhhbXBsZSE=' }] });

export const webhookListShape = z.object({ data: z.array(webhookShape).describe('Newest first.') }).meta({ id: 'WebhookList' });

/** A delivery that was just queued. */
export const queuedDeliveryShape = z
  .object({ delivery_id: uuid('The delivery, as the history names it.'), status: z.literal('queued') })
  .meta({ id: 'QueuedDelivery' });

const deliveryShape = z
  .object({
    id: uuid('Delivery identifier.'),
    event_id: z.string().describe('`Service-Event-Id` of its requests: `evt_<uuid>`. The same for every endpoint, attempt and replay of an event.'),
    event: webhookEvent,
    job_id: uuid('Job that the event is about.').nullable().describe('`null` for a test, whose job is a sample.'),
    test: z.boolean().describe('True when it was asked for as a test.'),
    replay_of: uuid('Delivery that this one repeats.').nullable(),
    status: z.enum(DELIVERY_STATUSES).describe('`queued`: not attempted yet. `retrying`: the last attempt failed, another follows. `delivered`: answered with 2xx. `failed`: given up after the last attempt. `stopped`: the endpoint was disabled meanwhile.'),
    attempts: z.int().min(0).max(5).describe('Attempts so far.'),
    response_status: z.int().nullable().describe('HTTP status of the last answer; `null` when there was none.'),
    failure: deliveryAttemptedV1.shape.failure.unwrap().nullable().describe('Why the last attempt failed; `null` when it did not.'),
    duration_ms: z.int().min(0).nullable().describe('How long the last attempt took.'),
    queued_at: timestamp('When it was queued.'),
    last_attempt_at: timestamp('When the last attempt began.').nullable(),
    next_attempt_at: timestamp('When the next attempt is due; `null` when none is.').nullable(),
  })
  .meta({
    id: 'Delivery',
    examples: [
      {
        id: '0190a6c3-52aa-8c1e-9d40-71b2c3d4e5f6',
        event_id: 'evt_0190a6c3-11aa-8c3e-8d00-5b1f0a9c7e21',
        event: 'job.finished',
        job_id: '0190a6c1-7d4b-7c6e-9b1f-2f1de5a0c7d3',
        test: false,
        replay_of: null,
        status: 'retrying',
        attempts: 1,
        response_status: 503,
        failure: 'http_status',
        duration_ms: 84,
        queued_at: '2026-11-21T09:30:05.140Z',
        last_attempt_at: '2026-11-21T09:30:05.231Z',
        next_attempt_at: '2026-11-21T09:31:05.231Z',
      },
    ],
  });

export const deliveryListShape = z
  .object({ data: z.array(deliveryShape), page: z.int().min(1), per_page: z.int().min(1).max(100), total: z.int().min(0).describe('Deliveries on all pages, at most 100,000.') })
  .meta({ id: 'DeliveryList' });

export const replayedShape = z
  .object({
    queued: z.int().min(0).describe('Deliveries that this request has queued.'),
    next_since: timestamp('`since` of the request that goes on; there is more to replay.').nullable().describe('`null` when everything is queued.'),
  })
  .meta({ id: 'ReplayedDeliveries' });
