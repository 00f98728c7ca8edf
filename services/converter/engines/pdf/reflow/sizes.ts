import type { Row } from './model.ts';

/** A title is larger than the text by this factor. */
const LARGER = 1.12;

/** Sizes that are closer than this, in points, are one. */
const SAME_POINTS = 0.6;

/** Words of the longest title. */
const TITLE_WORDS_MAX = 25;

/** Levels of titles that sizes alone tell apart. */
const LEVELS_MAX = 4;

/** Which sizes of letters a document uses, and for what. */
export interface Sizes {
  /** Size of most letters, points. */
  readonly body: number;
  /** Sizes of titles, largest first. */
  readonly titles: readonly number[];
}

/** Finds out what size the text of a document has, and which sizes are those of titles. */
export function measureSizes(rows: readonly Row[]): Sizes {
  const letters = new Map<number, number>();
  for (const row of rows) for (const { size, text } of row.words) letters.set(size, (letters.get(size) ?? 0) + text.length);
  const body = [...letters].toSorted((a, b) => b[1] - a[1])[0]?.[0] ?? 10;
  const larger = new Set(rows.filter(({ size, words }) => size > body * LARGER && words.length <= TITLE_WORDS_MAX).map(({ size }) => size));
  const titles: number[] = [];
  for (const size of [...larger].toSorted((a, b) => b - a)) if ((titles.at(-1) ?? Infinity) - size > SAME_POINTS) titles.push(size);
  return { body, titles };
}

/** Level of a title in letters of that size, from 1; undefined where the size is not one of titles. */
export function levelOf(sizes: Sizes, size: number, words: number): number | undefined {
  if (words > TITLE_WORDS_MAX) return undefined;
  const index = sizes.titles.findIndex((title) => title - size <= SAME_POINTS && size - title <= SAME_POINTS);
  return index === -1 ? undefined : Math.min(index + 1, LEVELS_MAX);
}

/** Level of a title that is only bold. */
export function boldLevel(sizes: Sizes): number {
  return Math.min(sizes.titles.length, LEVELS_MAX) + 1;
}
