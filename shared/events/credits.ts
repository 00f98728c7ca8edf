import { z } from 'zod';
import { credits, durationMs, id, sealed } from './fields.ts';

/** Appended when an operator gives an organization credits; the reason is sealed under the organization's key. */
export const creditsGrantedV1 = z.object({ amount: credits.min(1), reason: sealed.optional() });

/** Appended when credits are set aside for a job that is about to be created. */
export const creditsHeldV1 = z.object({ job_id: id, amount: credits.min(1) });

/** Appended when a job finished: `amount` of the hold is spent and the rest of it returns to the balance (§2.7). */
export const creditsChargedV1 = z.object({
  job_id: id,
  amount: credits.min(1),
  held: credits.min(1),
  billable_ms: durationMs,
  speed_factor: z.int().min(1).max(100),
  weight: z.int().min(1).max(100),
});

/** Appended when a hold ends without a charge (D30). */
export const creditsReleasedV1 = z.object({
  job_id: id,
  amount: credits.min(1),
  reason: z.enum(['failed', 'cancelled', 'deleted', 'expired', 'never_created']),
});
