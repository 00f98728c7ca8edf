import { z } from 'zod';
import type { Category, FormatName } from '../formats.ts';

/** Sources for which an option has an effect; for any other it is among those that have none (D22). */
export type ForInputs = readonly (FormatName | Category)[];

/** A whole number from `min` to `max`. */
export function whole(min: number, max: number, description: string) {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error }).optional().describe(description);
}

/** A number from `min` to `max`. */
export function number(min: number, max: number, description: string) {
  const error = `must be a number from ${min} to ${max}`;
  return z.number({ error }).min(min, { error }).max(max, { error }).optional().describe(description);
}

/** True or false. */
export function flag(description: string) {
  return z.boolean({ error: 'must be true or false' }).optional().describe(description);
}

/** One of a few words. */
export function oneOf<const Values extends readonly [string, ...string[]]>(values: Values, description: string) {
  return z.enum(values, { error: `must be one of ${values.join(', ')}` }).optional().describe(description);
}

/** The same option, with an effect only for some sources; `GET /operations` shows them as `x-inputs`. */
export function only<Schema extends z.ZodType>(inputs: ForInputs, schema: Schema): Schema {
  return schema.meta({ ...schema.meta(), 'x-inputs': inputs });
}
