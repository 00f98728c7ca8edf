import { z } from 'zod';

/** Entries on a page unless the client says otherwise (§8). */
export const PER_PAGE_DEFAULT = 20;
const PER_PAGE_MAX = 100;
/** Far above any list; below it every offset is exact. */
const PAGE_MAX = 1_000_000_000;

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

/** `page` and `per_page` of a list of `entries`, such as Jobs (§4.3); `pageNote` says what a page is. */
export function pageFields(entries: string, pageNote: string) {
  return {
    page: integerField({ min: 1, max: PAGE_MAX, fallback: 1 }, pageNote),
    per_page: integerField({ min: 1, max: PER_PAGE_MAX, fallback: PER_PAGE_DEFAULT }, `${entries} on a page.`),
  };
}
