import { z } from 'zod';
import { PARTS_MAX } from '../../../shared/domain/multipart.ts';

/** Part numbers in one request (§8). */
const NUMBERS_MAX = 100;

const number = z.int({ error: 'must be a whole number' }).min(1, { error: 'must be at least 1' }).max(PARTS_MAX, { error: `must be at most ${PARTS_MAX}` });

/** Body of a start. */
export const startBody = z
  .object({ size_bytes: z.int({ error: 'must be a whole number of bytes' }).min(1, { error: 'must be at least 1' }).describe('Exact size of the file.') })
  .meta({ id: 'StartMultipartRequest' });

/** Body of a request for part URLs. */
export const partNumbersBody = z
  .object({
    part_numbers: z
      .array(number, { error: 'must be an array of part numbers' })
      .min(1, { error: 'must not be empty' })
      .max(NUMBERS_MAX, { error: `must have at most ${NUMBERS_MAX} entries` })
      .superRefine(refuseRepeated)
      .meta({ uniqueItems: true, description: 'Numbers of parts, from 1, each once.' }),
  })
  .meta({ id: 'PartUrlsRequest' });

/** Body of a completion. */
export const completeBody = z
  .object({
    parts: z
      .array(
        z.object({
          part_number: number,
          etag: z
            .string({ error: 'must be a string' })
            .regex(/^"?[0-9a-f]{32}"?$/, { error: 'must be the ETag that the upload of the part answered' })
            .describe('`ETag` header of the upload of the part, with or without its quotes.'),
        }, { error: 'must be an object' }),
        { error: 'must be an array of parts' },
      )
      .max(PARTS_MAX, { error: `must have at most ${PARTS_MAX} entries` })
      .describe('Every part once, in any order.'),
  })
  .meta({ id: 'CompleteMultipartRequest' });

function refuseRepeated(numbers: readonly number[], context: z.RefinementCtx): void {
  const seen = new Set<number>();
  for (const [index, partNumber] of numbers.entries()) {
    if (seen.has(partNumber)) context.addIssue({ code: 'custom', path: [index], message: 'is there already' });
    seen.add(partNumber);
  }
}
