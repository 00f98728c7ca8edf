import type { RouteConfig } from '@asteasolutions/zod-to-openapi';
import { z } from 'zod';
import { WEBHOOK_EVENTS, type WebhookEvent } from '../../../shared/domain/webhooks.ts';
import { jobShape, timestamp } from './schemas.ts';

/** When each event is sent (§6). */
const SENT_WHEN: Readonly<Record<WebhookEvent, { readonly summary: string; readonly when: string }>> = {
  'job.created': { summary: 'A job was created', when: 'Sent once for each job; not for a request that was refused, nor for the replay of an `Idempotency-Key`. `data.job` is `waiting`, and never has an upload URL.' },
  'job.finished': { summary: 'A job finished', when: '`data.job` holds the link to the result. Test deliveries are of this event; they alone have `test`.' },
  'job.failed': { summary: 'A job failed', when: '`data.job` has the status `error`, and `error` says why.' },
  'job.cancelled': { summary: 'A job was cancelled', when: 'Sent for `POST /jobs/{job_id}/cancel`; not when a job is deleted, nor when its file never came.' },
};

const DELIVERY = [
  '`data.job` is the job as it was at the event, not as it is now. Answer with any 2xx within 10 seconds; what you do with the event can come later. Redirects are not followed. Anything else is tried again 60 seconds, 5 minutes, 15 minutes and 1 hour after the failure before: five attempts in all. 410 ends that, and disables the endpoint.',
  'An event may arrive twice, and events may arrive in any order: tell them apart by their id, and rely on `GET /jobs/{job_id}`. `docs/webhooks.md` shows how to verify signatures in several languages.',
].join('\n\n');

/** Headers of every delivery (§6); those in lower case are of Standard Webhooks, over the same secret. */
const headers = z.object({
  'Service-Signature': z
    .string()
    .describe('`t=<unix seconds>,v1=<hex>`: HMAC-SHA256 of `<t>.<raw body>` under the whole secret, `whsec_` included. While a secret is being rotated there are two `v1`; accept if one matches. Reject when `t` is more than 300 seconds away from your clock. Made anew for each attempt.'),
  'Service-Event-Id': z.string().describe('The same as `id` of the body, in every attempt and replay of the event.'),
  'User-Agent': z.literal('Service-Webhooks/1'),
  'webhook-id': z.string().describe('The same as `Service-Event-Id`.'),
  'webhook-timestamp': z.string().describe('Unix seconds of the attempt.'),
  'webhook-signature': z.string().describe('`v1,<base64>`: HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<raw body>` under the bytes that the secret encodes in base64 after `whsec_`; separated by a space while a secret is being rotated.'),
});

/** Every request that is sent to webhook endpoints, for the `webhooks` of the OpenAPI document. */
export function describeEvents(): readonly RouteConfig[] {
  return WEBHOOK_EVENTS.map((event) => ({
    method: 'post',
    path: event,
    operationId: `on${nameOf(event)}`,
    tags: ['Events'],
    summary: SENT_WHEN[event].summary,
    description: `${SENT_WHEN[event].when}\n\n${DELIVERY}`,
    security: [],
    request: { headers, body: { required: true, content: { 'application/json': { schema: eventShape(event) } } } },
    responses: {
      '2XX': { description: 'Received. The body is of no interest.' },
      410: { description: 'Gone: nothing is sent any more, and the endpoint is disabled.' },
      default: { description: 'Anything else: the delivery is tried again.' },
    },
  }));
}

/** Body of an event (§6). */
function eventShape(event: WebhookEvent): z.ZodType {
  const shape = z.object({
    id: z.string().describe('`evt_<uuid>`; stays the same in every attempt and replay.'),
    event: z.literal(event),
    created_at: timestamp('When it happened.'),
    data: z.object({ job: jobShape }).describe('The job as it was then, in the shape of `GET /jobs/{job_id}`.'),
  });
  const whole = event === 'job.finished' ? shape.extend({ test: z.literal(true).optional().describe('Only on test deliveries, whose job is a sample.') }) : shape;
  return whole.meta({ id: `${nameOf(event)}Event` });
}

/** `job.created` is `JobCreated`. */
function nameOf(event: WebhookEvent): string {
  return event.replaceAll(/(?:^|\.)(\w)/g, (_match, letter: string) => letter.toUpperCase());
}
