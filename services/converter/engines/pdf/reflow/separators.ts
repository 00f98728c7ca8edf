import type { Row, Word } from './model.ts';

/** Gap between columns, in sizes of letters, where all lines of a table agree on it. */
export const COLUMN_GAP = 0.35;

/** A narrow gap, too, is one between columns where so many lines leave it, or where fewer begin or end at it exactly. */
const NARROW_GAP_POINTS = 1.5;
const SURE_LINES = 8;
const ALIGNED_LINES = 3;
const ALIGNED_POINTS = 1;

/** Widths that a space between words has in fonts, in sizes of letters. */
const [SPACE_MIN, SPACE_MAX] = [0.21, 0.36];

/** Part of the lines that may cross a gap between columns, such as a title that is too long for its cell. */
const CROSSING_MAX = 0.05;

/** Columns of one table: more are a drawing. */
const COLUMNS_MAX = 100;

/** The middles of the gaps that all lines leave, but for the few that may cross one. */
export function separatorsOf(rows: readonly Row[]): readonly number[] {
  const size = sizeOfRows(rows);
  const isColumn = ([left, right]: readonly [number, number]): boolean => {
    if (right - left >= size * COLUMN_GAP) return true;
    const pairs = neighboursOf(rows, left, right);
    return !isSpace(pairs, size) && (rows.length >= SURE_LINES || isAligned(pairs));
  };
  return gapsOf(rows).filter((gap) => isColumn(gap)).map(([left, right]) => (left + right) / 2).slice(0, COLUMNS_MAX - 1);
}

/** Where hardly any line has a word, from left to right. */
function gapsOf(rows: readonly Row[]): readonly (readonly [number, number])[] {
  const crossingMax = Math.floor(rows.length * CROSSING_MAX);
  const ends = rows.flatMap(({ words }) => words.flatMap(({ left, right }) => [[left, 1] as const, [right, -1] as const])).toSorted((a, b) => a[0] - b[0] || b[1] - a[1]);
  const gaps: [number, number][] = [];
  let open = 0;
  let emptySince: number | undefined;
  for (const [x, change] of ends) {
    const wasEmpty = open <= crossingMax;
    open += change;
    const isEmpty = open <= crossingMax;
    if (!wasEmpty && isEmpty) emptySince = x;
    if (wasEmpty && !isEmpty) {
      if (emptySince !== undefined && x - emptySince >= NARROW_GAP_POINTS) gaps.push([emptySince, x]);
      emptySince = undefined;
    }
  }
  return gaps;
}

/** The words of each line on both sides of a gap. */
type Neighbours = readonly { readonly before: Word | undefined; readonly after: Word | undefined }[];

function neighboursOf(rows: readonly Row[], left: number, right: number): Neighbours {
  return rows.map(({ words }) => ({
    before: words.findLast((word) => word.right <= left + ALIGNED_POINTS),
    after: words.find((word) => word.left >= right - ALIGNED_POINTS),
  }));
}

/** True where lines end at the left of a gap, or begin at its right, all at one place. */
function isAligned(pairs: Neighbours): boolean {
  const ends = pairs.flatMap(({ before }) => before?.right ?? []);
  const starts = pairs.flatMap(({ after }) => after?.left ?? []);
  return [ends, starts].some((edges) => edges.length >= ALIGNED_LINES && Math.max(...edges) - Math.min(...edges) <= ALIGNED_POINTS);
}

/** True where every line has the same word on one side of a gap as wide as a space: `Part 1`, `Part 2` is one cell. */
function isSpace(pairs: Neighbours, size: number): boolean {
  const both = pairs.flatMap(({ before, after }) => (before === undefined || after === undefined ? [] : [{ before, after }]));
  const spaces = both.filter(({ before, after }) => after.left - before.right >= size * SPACE_MIN && after.left - before.right <= size * SPACE_MAX);
  if (spaces.length < 2) return false;
  return (['before', 'after'] as const).some((side) => new Set(spaces.map((pair) => pair[side].text)).size === 1);
}

/** The size that a middle line has, points. */
export function sizeOfRows(lines: readonly Row[]): number {
  return lines.map(({ size }) => size).toSorted((a, b) => a - b)[Math.floor(lines.length / 2)] ?? 0;
}
