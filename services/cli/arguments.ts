import { z } from 'zod';
import { isId } from '../../shared/ids/ids.ts';
import { UsageError, type OptionValues } from './command.ts';

/** The value of an option that must be there. Throws `UsageError`. */
export function required(values: OptionValues, name: string): string {
  const value = values[name];
  if (typeof value !== 'string' || value === '') throw new UsageError(`--${name} is missing`);
  return value;
}

/** Parses an option by a schema; the error names the option and what is allowed. Throws `UsageError`. */
export function parseOption<Schema extends z.ZodType>(name: string, value: string, schema: Schema): z.infer<Schema> {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new UsageError(`--${name}: ${parsed.error.issues.map((issue) => issue.message).join('; ')}`);
  return parsed.data;
}

/** One of our ids. Throws `UsageError`. */
export function parseId(what: string, value: string | undefined): string {
  if (value === undefined || !isId(value)) throw new UsageError(`${what} must be an id such as 0190b3a4-7c1e-7d1f-8a2b-3c4d5e6f7a8b`);
  return value;
}

/** A whole number of credits, 1 to a thousand million. */
export const creditsAmount = z
  .string()
  .regex(/^[1-9]\d{0,9}$/, 'must be a whole number of credits, at least 1')
  .transform(Number)
  .pipe(z.number().max(1_000_000_000, 'must be at most 1000000000'));
