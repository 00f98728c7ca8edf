import { around, type Row, type Word } from './model.ts';
import { groupRows, splitRow } from './rows.ts';

/** Gap that parts two columns of text, in sizes of letters. */
const GAP = 1;

/** Fewest lines of a column; fewer are a table, or chance. */
const LINES_MIN = 5;

/** Words of a line of prose; cells of tables have fewer. */
const WORDS_MIN = 4;

/** How much of their column lines of prose fill on average. */
const FILL_MIN = 0.55;

/** Part of the lines that may cross the space between columns, such as titles and captions. */
const CROSSING_MAX = 0.4;

/** Points that are always empty between columns. */
const SPACE_MIN = 6;

/** Left edges that are tried; a page has few. */
const TRIES_MAX = 8;

/** Columns in columns: newspapers have up to six. */
const DEPTH_MAX = 3;

/** Parts a page into pieces that are read one after the other: columns, and lines that cross them. */
export function splitColumns(words: readonly Word[], depth = 0): readonly (readonly Word[])[] {
  if (words.length === 0) return [];
  if (depth >= DEPTH_MAX) return [words];
  const lines = groupRows(words).flatMap((row) => splitRow(row, GAP));
  const edge = findEdge(lines);
  if (edge === undefined) return [words];
  const zones: Word[][] = [];
  let [left, right, crossing]: [Word[], Word[], Word[]] = [[], [], []];
  const flushColumns = (): void => {
    if (left.length > 0 || right.length > 0) zones.push(...splitColumns(left, depth + 1).map((zone) => [...zone]), ...splitColumns(right, depth + 1).map((zone) => [...zone]));
    [left, right] = [[], []];
  };
  const flushCrossing = (): void => {
    if (crossing.length > 0) zones.push(crossing);
    crossing = [];
  };
  for (const line of lines.toSorted((a, b) => a.top - b.top)) {
    const side = sideOf(line, edge);
    if (side === 'crossing') {
      flushColumns();
      crossing.push(...line.words);
    } else {
      flushCrossing();
      (side === 'left' ? left : right).push(...line.words);
    }
  }
  flushCrossing();
  flushColumns();
  return zones;
}

function sideOf(line: Row, edge: number): 'left' | 'right' | 'crossing' {
  if (line.left >= edge - 2) return 'right';
  return line.right <= edge - SPACE_MIN ? 'left' : 'crossing';
}

/** The left edge of the second of two columns of prose; undefined where there are none. */
function findEdge(lines: readonly Row[]): number | undefined {
  if (lines.length < 2 * LINES_MIN) return undefined;
  const page = around(lines);
  const counts = new Map<number, number>();
  for (const { left } of lines) if (left > page.left + (page.right - page.left) * 0.2) counts.set(Math.round(left), (counts.get(Math.round(left)) ?? 0) + 1);
  const tries = [...counts].filter(([, count]) => count >= LINES_MIN).toSorted((a, b) => b[1] - a[1]);
  return tries.slice(0, TRIES_MAX).map(([edge]) => edge).find((edge) => isEdge(lines, edge, page.left, page.right));
}

function isEdge(lines: readonly Row[], edge: number, pageLeft: number, pageRight: number): boolean {
  const left = lines.filter((line) => sideOf(line, edge) === 'left');
  const right = lines.filter((line) => sideOf(line, edge) === 'right');
  if (left.length < LINES_MIN || right.length < LINES_MIN) return false;
  if ((lines.length - left.length - right.length) / lines.length > CROSSING_MAX) return false;
  if (!isProse(left, edge - SPACE_MIN - pageLeft) || !isProse(right, pageRight - edge)) return false;
  const [a, b] = [around(left), around(right)];
  return Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > Math.min(a.bottom - a.top, b.bottom - b.top) / 2;
}

function isProse(lines: readonly Row[], width: number): boolean {
  const words = lines.reduce((sum, line) => sum + line.words.length, 0) / lines.length;
  const fill = lines.reduce((sum, line) => sum + line.right - line.left, 0) / lines.length / width;
  return words >= WORDS_MIN && fill >= FILL_MIN;
}
