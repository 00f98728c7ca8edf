import { z } from 'zod';

/** Digits only: what `Number` would also take (`1e1`, ` 5`, `0x10`) is no integer to a client (D33). */
const DIGITS = /^\d{1,15}$/;

/** A whole number of a query within bounds; described as an integer. */
export function integerField(bounds: { readonly min: number; readonly max: number; readonly fallback?: number }, description: string) {
  const { min, max, fallback } = bounds;
  const error = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(DIGITS, { error })
    .transform(Number)
    .refine((value) => value >= min && value <= max, { error })
    .optional()
    .meta({ type: 'integer', minimum: min, maximum: max, description, ...(fallback === undefined ? {} : { default: fallback }) });
}
