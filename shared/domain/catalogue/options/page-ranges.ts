import { z } from 'zod';

/** Pages that a range may name; the catalogue converts no document with more. */
export const PAGES_MAX = 10_000;

/** Characters of a list of ranges: some thirty of them. */
const TEXT_MAX = 300;

const ERROR = 'must be page numbers and ranges such as 1-3,5,8-';

/** Pages from `first` to `last`, counted from 1; `last` is undefined where the range goes to the end. */
export interface PageRange {
  readonly first: number;
  readonly last: number | undefined;
}

/** A list of pages as people write it: `1-3,5,8-`. It is only ever read by `parsePageRanges`. */
export function pageRanges(description: string) {
  return z
    .string({ error: ERROR })
    .max(TEXT_MAX, { error: `must have at most ${TEXT_MAX} characters` })
    .regex(/^[1-9]\d{0,4}(-([1-9]\d{0,4})?)?(,[1-9]\d{0,4}(-([1-9]\d{0,4})?)?)*$/, { error: ERROR })
    .optional()
    .describe(description);
}

/** The ranges in a text that `pageRanges` let through, in its order. */
export function parsePageRanges(text: string): readonly PageRange[] {
  return text.split(',').map((part) => {
    const [first = '', last] = part.split('-');
    return { first: Number(first), last: last === undefined ? Number(first) : last === '' ? undefined : Number(last) };
  });
}

/**
 * The page numbers that ranges mean in a document of so many pages, in the order in which they are named. A range that
 * begins behind the last page, or runs backwards, names nothing and makes the whole list undefined.
 */
export function selectPages(text: string | undefined, pageCount: number): readonly PageRange[] | undefined {
  if (text === undefined) return [{ first: 1, last: pageCount }];
  const ranges = parsePageRanges(text).map(({ first, last }) => ({ first, last: Math.min(last ?? pageCount, pageCount) }));
  return ranges.every(({ first, last }) => first <= last) ? ranges : undefined;
}
