import { z } from 'zod';
import { ApiError } from '../errors/api-error.ts';
import type { ApiContext } from '../http/context.ts';

const HEADER = 'Idempotency-Key';
/** Longest key (§8). */
const KEY_CHARS_MAX = 255;

/** Headers of POST /jobs beyond those of every request. Quotes are a part of the value (D79). */
export const createJobHeaders = z.object({
  [HEADER]: z
    .string()
    .regex(/^[ -~]*$/, { error: 'must be printable ASCII' })
    .min(1, { error: 'must not be empty' })
    .max(KEY_CHARS_MAX, { error: `must have at most ${KEY_CHARS_MAX} characters` })
    .optional()
    .describe('Makes a retry safe: remembered for 24 hours, and belongs to the API key that used it, also after that was rotated. A failed request does not use it up.'),
});

/** The key of the request, or undefined. Throws `ApiError` 400 when it is not as §8 says or is given more than once. */
export function readIdempotencyKey(ctx: ApiContext): string | undefined {
  const [value, ...more] = ctx.req.headersDistinct[HEADER.toLowerCase()] ?? [];
  if (more.length > 0) throw ApiError.issues([{ path: HEADER, message: 'must be given only once' }]);
  const parsed = createJobHeaders.shape[HEADER].safeParse(value);
  if (parsed.success) return parsed.data;
  throw ApiError.issues(parsed.error.issues.map(({ message }) => ({ path: HEADER, message })));
}
