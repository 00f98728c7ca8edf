import { z } from 'zod';
import { WEBHOOK_EVENTS } from '../../../shared/domain/webhooks.ts';

/** Longest description, counted in code points; it is kept sealed in one event with the URL. */
const DESCRIPTION_CODE_POINTS_MAX = 1000;
/** Longest list of events that is looked at; there are four names, and repeats have no effect. */
const EVENT_ENTRIES_MAX = 100;

/** Other years, as a zone may make one, are no times to the read model. */
const FOUR_DIGIT_YEAR = /^(?!0000)\d{4}-/;

const eventNames = z
  .array(z.enum(WEBHOOK_EVENTS, { error: `must be one of ${WEBHOOK_EVENTS.join(', ')}` }), { error: 'must be an array of event names' })
  .min(1, { error: 'must not be empty; leave it out to get all events' })
  .max(EVENT_ENTRIES_MAX, { error: `must have at most ${EVENT_ENTRIES_MAX} entries` })
  .transform((names) => [...new Set(names)]);

/** Body of POST /webhooks (§4.6). Where the URL leads is looked at afterwards (D55). */
export const createWebhookBody = z
  .object({
    url: z
      .string({ error: 'must be a string' })
      .min(1, { error: 'must not be empty' })
      .meta({ maxLength: 2048 })
      .describe('`https://`, at most 2048 characters, without credentials, of a host whose addresses are all public. It is looked up now and again at every delivery.'),
    events: eventNames
      .optional()
      .meta({ type: 'array', items: { type: 'string', enum: [...WEBHOOK_EVENTS] }, minItems: 1, description: 'Events to be sent; repeats have no effect. All four when it is left out.' }),
    description: z
      .string({ error: 'must be a string' })
      .refine((value) => Array.from(value).length <= DESCRIPTION_CODE_POINTS_MAX, { error: `must have at most ${DESCRIPTION_CODE_POINTS_MAX} characters` })
      .optional()
      .meta({ maxLength: DESCRIPTION_CODE_POINTS_MAX, description: 'Free text of your choice.' }),
  })
  .meta({ id: 'CreateWebhookRequest', examples: [{ url: 'https://hooks.example.com/conversions', events: ['job.finished', 'job.failed'], description: 'Tells the shop' }] });

/** What is asked for by POST /webhooks. */
export type CreateWebhookRequest = z.infer<typeof createWebhookBody>;

/** Body of a replay of many deliveries. */
export const replayBody = z
  .object({
    since: z.iso
      .datetime({ offset: true, error: 'must be a time such as 2026-11-21T09:30:00Z' })
      .transform((text) => new Date(text).toISOString())
      .refine((time) => FOUR_DIGIT_YEAR.test(time), { error: 'must be a time of the years 1 to 9999' })
      .meta({ type: 'string', format: 'date-time', description: 'Events whose delivery was queued at this time or later, in ISO 8601 with a zone. History is kept for 30 days.' }),
    status: z.enum(['all', 'failed'], { error: 'must be all or failed' }).default('all').describe('`failed` leaves out events that were delivered, and those whose delivery is still under way.'),
  })
  .meta({ id: 'ReplayDeliveriesRequest', examples: [{ since: '2026-11-21T09:30:00Z', status: 'failed' }] });
