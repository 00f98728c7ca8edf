import { z } from 'zod';

/** Subject on which the projections tell how the log stands to the read models, and the group of those that answer. */
export const LOG_STATE_SUBJECT = 'projections.log_state';
export const PROJECTIONS_QUEUE = 'projections';

/** `right`: the log is the one that the read models were made of; `behind`: an older one, or another, was put in place (D96). */
const logState = z.enum(['right', 'behind']);
export type LogState = z.infer<typeof logState>;

/** Every answer to the question. */
export const logStateReply = z.union([
  z.object({ ok: z.literal(true), state: logState }),
  z.object({ ok: z.literal(false), code: z.enum(['unavailable', 'bad_request']) }),
]);
export type LogStateReply = z.infer<typeof logStateReply>;
