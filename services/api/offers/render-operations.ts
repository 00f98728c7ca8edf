import { createHash } from 'node:crypto';
import { z } from 'zod';
import { OPTION_SCHEMAS } from '../../../shared/domain/catalogue/options/options.ts';
import type { Pair } from '../../../shared/domain/catalogue/pairs.ts';

/** The answer of `GET /operations` as it goes out, and its entity tag. */
export type RenderedOperations = { readonly text: string; readonly etag: string };

/** Renders the pairs on offer, and the options of each format that one of them leads to (§4.1, D50). */
export function renderOperations(pairs: readonly Pair[]): RenderedOperations {
  const outputs = new Set<string>(pairs.map(({ output }) => output));
  const text = JSON.stringify({
    data: pairs.map(describePair),
    options: Object.fromEntries(Object.entries(OPTION_SCHEMAS).filter(([format]) => outputs.has(format)).map(([format, schema]) => [format, describeOptions(schema)])),
  });
  return { text, etag: `"${createHash('sha256').update(text).digest('base64url')}"` };
}

function describePair({ input, output, estimate, weight, bestEffort }: Pair): object {
  return { input_format: input, output_format: output, credits_estimated: estimate, weight, best_effort: bestEffort };
}

/** The schema as clients meet it: a key that it does not know is no error and has no effect (D22). */
function describeOptions(schema: z.ZodObject): object {
  const { additionalProperties: _refused, $schema: _dialect, ...described } = z.toJSONSchema(schema);
  return described;
}
