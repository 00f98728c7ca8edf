import { z } from 'zod';
import { actor } from '../events/envelope.ts';
import { credits, id, sealed, time } from '../events/fields.ts';

/** Subjects on which ledgers answer, and the group in which each request goes to one of them. */
export const HOLD_SUBJECT = 'ledger.hold';
export const GRANT_SUBJECT = 'ledger.grant';
export const READY_SUBJECT = 'ledger.ready';
export const LEDGER_QUEUE = 'ledger';

/** How long a caller waits for a ledger, in ms; a ledger begins nothing for somebody who has given up. */
export const LEDGER_TIMEOUT_MS = 5_000;

const origin = { command_id: id, correlation_id: id, actor };

/**
 * Asks that credits be set aside for a job that is about to be created (D29), if the organization would then have at
 * most `active_jobs_max` active jobs (§8 rate limits 6); without it, however many there are.
 */
export const holdRequest = z.object({ organization_id: id, job_id: id, amount: credits.min(1), active_jobs_max: z.int().min(1).optional(), ...origin });
export type HoldRequest = z.infer<typeof holdRequest>;

/** Asks that an organization be given credits; the reason is sealed by whoever asks. */
export const grantRequest = z.object({ organization_id: id, amount: credits.min(1), reason: sealed.optional(), ...origin });
export type GrantRequest = z.infer<typeof grantRequest>;

/** The ledger cannot serve just now; ask again later. */
const unavailable = z.object({ ok: z.literal(false), code: z.literal('unavailable') });
/** The ledger could not read the request. */
const badRequest = z.object({ ok: z.literal(false), code: z.literal('bad_request') });

/** The credits are held; `job.created` must be appended before `create_before`. `balance` is after the hold. */
const held = z.object({ ok: z.literal(true), balance: z.int().min(0), position: z.int().min(1), create_before: time });
/** The balance does not suffice (402, §7). */
const insufficient = z.object({ ok: z.literal(false), code: z.literal('insufficient_credits'), credits_required: credits, credits_available: z.int().min(0) });
/** The organization has as many active jobs as it may (429, §7). */
const tooManyActive = z.object({ ok: z.literal(false), code: z.literal('active_job_limit_reached'), limit: z.int().min(1) });
/** The hold of this job ended already; a new job needs a new id. */
const settled = z.object({ ok: z.literal(false), code: z.literal('already_settled') });

/** Every answer to a hold. A further refusal is a further member of this union. */
export const holdReply = z.union([held, insufficient, tooManyActive, settled, unavailable, badRequest]);
export type HoldReply = z.infer<typeof holdReply>;
/** What a caller of `requestHold` gets: held, or why not. */
export type HoldAnswer = z.infer<typeof held> | z.infer<typeof insufficient> | z.infer<typeof tooManyActive> | z.infer<typeof settled>;

const granted = z.object({ ok: z.literal(true), balance: z.int().min(0), position: z.int().min(1) });
/** Every answer to a grant. */
export const grantReply = z.union([granted, unavailable, badRequest]);
export type GrantReply = z.infer<typeof grantReply>;
/** Answer to the question whether a ledger follows the log. */
export const readyReply = z.object({ ok: z.boolean() });
export type ReadyReply = z.infer<typeof readyReply>;

/** Balance after a grant, and the position of its event in `CREDITS`. */
export type GrantAnswer = { readonly balance: number; readonly position: number };
