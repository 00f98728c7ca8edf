import { z } from 'zod';
import { durationMs, id, keyMode, sealed, time, webhookEvent } from './fields.ts';

/** Attempt of a delivery, from 1; §6 allows five. */
const deliveryAttempt = z.int().min(1).max(5);
/** Position in a stream. */
const position = z.int().min(1);
/** Number of an event within its aggregate. */
const version = z.int().min(1);

/**
 * Appended when an event is to be sent to an endpoint. The body is no part of it: it is made anew for every attempt, out of
 * the events of the job up to `source.version`, and so is the same each time (D66, D69).
 */
export const deliveryQueuedV1 = z.object({
  webhook_id: id,
  /** Id that receivers know the event by, `evt_<event_id>`; the same at every endpoint and in every replay. */
  event_id: id,
  event: webhookEvent,
  /** Version of the account's event that last enabled the endpoint; once that is another one, nothing is sent any more (D72). */
  activation: version,
  key_mode: keyMode,
  source: z.discriminatedUnion('kind', [
    /** `position` and `version` are those of the event of the job. */
    z.object({ kind: z.literal('job'), job_id: id, position, version }),
    /** A sample that a client asked for (D58), and what it tells of that: a replay repeats both, and so its body. */
    z.object({ kind: z.literal('test'), requested_at: time, api_key_id: id }),
  ]),
  /** The delivery that is sent once more under the same event id. */
  replay_of: id.optional(),
  /**
   * What the client typed into the job, as far as the body shows it, under the key of the endpoint: an event that was
   * emitted still goes out when the job is deleted and the job's own key destroyed (D73).
   */
  typed: sealed.optional(),
});

/** Appended before an attempt is made, so that there are never more than five, whoever is killed in between. */
export const deliveryAttemptStartedV1 = z.object({ attempt: deliveryAttempt, started_at: time });

/**
 * Appended when the outcome of an attempt is known, or when it never will be (`interrupted`). After a failure without
 * `next_attempt_at` there is no further attempt.
 */
export const deliveryAttemptedV1 = z.object({
  attempt: deliveryAttempt,
  outcome: z.enum(['delivered', 'failed']),
  failure: z
    .enum(['http_status', 'redirect', 'timeout', 'network', 'blocked_address', 'not_https', 'invalid_url', 'answer_too_large', 'interrupted'])
    .optional(),
  /** Status of the answer, when there was one. */
  status_code: z.int().min(100).max(999).optional(),
  duration_ms: durationMs,
  next_attempt_at: time.optional(),
});

/** Appended when a delivery has lost its endpoint: no further attempt is made (D72). */
export const deliveryStoppedV1 = z.object({ reason: z.enum(['endpoint_disabled', 'endpoint_deleted']) });
