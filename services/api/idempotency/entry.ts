import { z } from 'zod';
import { id, sealed, sha256, time } from '../../../shared/events/fields.ts';
import { Defect } from '../../../shared/errors/errors.ts';

/** Under way: nobody else begins before `lease_until`, and then the log tells what became of `job_id`. */
const running = z.object({ state: z.literal('running'), fingerprint: sha256, job_id: id, lease_until: time });
/** Answered with 201; `answer` is that answer, sealed. */
const done = z.object({ state: z.literal('done'), fingerprint: sha256, job_id: id, answer: sealed });
const entrySchema = z.discriminatedUnion('state', [running, done]);

/** A request under way. */
export type RunningEntry = z.infer<typeof running>;
/** What is noted of a request that carried an Idempotency-Key. */
export type Entry = z.infer<typeof entrySchema>;

/** Reads an entry. Throws `Defect` when it is none of ours. */
export function parseEntry(text: string): Entry {
  const parsed = entrySchema.safeParse(JSON.parse(text));
  if (!parsed.success) throw new Defect('an entry of the idempotency bucket has an unknown shape', { cause: parsed.error });
  return parsed.data;
}
