import { z } from 'zod';
import { id, jobsPosition, keyMode, sealed, time, webhookEvent } from './fields.ts';

/**
 * Appended when a webhook endpoint is registered (§4.6). It is subscribed to events of jobs after `jobs_position`, the end
 * of `JOBS` just before: so what it is subscribed to follows from positions alone and needs no clock.
 */
export const accountWebhookCreatedV1 = z.object({
  webhook_id: id,
  key_mode: keyMode,
  events: z
    .array(webhookEvent)
    .min(1)
    .max(4)
    .refine((events) => new Set(events).size === events.length),
  /** URL and description, under the endpoint's own key. */
  details: sealed,
  /** The signing secret, which must be recoverable to sign with (D57), under the same key. */
  secret: sealed,
  jobs_position: jobsPosition,
});

/** Appended when an endpoint is removed; its key is destroyed after it, and with it what the log says of the endpoint (D57). */
export const accountWebhookDeletedV1 = z.object({ webhook_id: id });

/** Appended when an endpoint answered 410, or nothing was delivered to it for five days of failures (§6, D71). */
export const accountWebhookDisabledV1 = z.object({ webhook_id: id, reason: z.enum(['gone_410', 'failing_5_days']) });

/** Appended when an operator enables an endpoint again; what happened up to `jobs_position` is never sent to it (D72). */
export const accountWebhookEnabledV1 = z.object({ webhook_id: id, jobs_position: jobsPosition });

/** Appended when an endpoint gets a new secret; the one before it signs too until `previous_until` (§6, D68). */
export const accountWebhookSecretRotatedV1 = z.object({ webhook_id: id, secret: sealed, previous_until: time });
