import type { Row, Word } from './model.ts';
import { groupRows } from './rows.ts';

/** A page of words, and how high it is in points. */
interface PageOfWords {
  readonly height: number;
  readonly words: readonly Word[];
}

/** Parts of a page's height where running heads and page numbers stand. */
const [TOP, BOTTOM] = [0.12, 0.88];

/** A line that stands on fewer pages is text. */
const PAGES_MIN = 3;

/** Points by which such a line may stand higher or lower. */
const OFF_POINTS = 6;

/** Space between it and the text, in its own heights; the head of a table stands closer to its rows. */
const APART = 0.6;

/** A line on such a part of the pages is kept once, as the running head of all. */
const PART_OF_ALL = 0.6;

/** What is left of the pages, and what was taken off them. */
export interface WithoutFurniture {
  readonly pages: readonly (readonly Word[])[];
  readonly header: string | undefined;
  readonly footer: string | undefined;
}

/** Takes off the lines that are repeated at the top or the bottom of many pages; numbers in them may differ. */
export function removeFurniture(pages: readonly PageOfWords[]): WithoutFurniture {
  const edges = pages.map((page) => edgesOf(page));
  const [tops, bottoms] = [edges.map(({ first }) => first), edges.map(({ last }) => last)];
  const [header, footer] = [mostCommon(tops, pages.length), mostCommon(bottoms, pages.length)];
  const gone = new Set([...repeatedRows(tops, header), ...repeatedRows(bottoms, footer)].flatMap(({ words }) => words));
  return { pages: pages.map(({ words }) => words.filter((word) => !gone.has(word))), header, footer };
}

function edgesOf({ words, height }: PageOfWords): { first: Row | undefined; last: Row | undefined } {
  const rows = groupRows(words);
  const [first, second, beforeLast, last] = [rows[0], rows[1], rows.at(-2), rows.at(-1)];
  return {
    first: first !== undefined && first.bottom <= height * TOP && apart(first, second, first) ? first : undefined,
    last: last !== undefined && last !== first && last.top >= height * BOTTOM && apart(beforeLast, last, last) ? last : undefined,
  };
}

function apart(above: Row | undefined, below: Row | undefined, edge: Row): boolean {
  return above === undefined || below === undefined || below.top - above.bottom >= APART * (edge.bottom - edge.top);
}

/** The line with `#` for every number, Roman page numbers of prefaces among them. */
function patternOf({ words }: Row): string {
  return words.map(({ text }) => text).join(' ').replaceAll(/\d+/g, '#').replace(/^[ivxl]+$/, '#');
}

/** Lines by what is written in them, where that is on enough pages at the same height. */
function groupRepeated(rows: readonly (Row | undefined)[]): ReadonlyMap<string, readonly Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    if (row === undefined) continue;
    const [pattern, first] = [patternOf(row), groups.get(patternOf(row))?.[0]];
    if (first === undefined) groups.set(pattern, [row]);
    else if (Math.abs(first.top - row.top) <= OFF_POINTS) groups.get(pattern)?.push(row);
  }
  return new Map([...groups].filter(([, group]) => group.length >= PAGES_MIN));
}

/** What is to be taken off: all of them, but the first of a line that holds more than numbers and is nowhere else kept. */
function repeatedRows(rows: readonly (Row | undefined)[], kept: string | undefined): readonly Row[] {
  return [...groupRepeated(rows)].flatMap(([pattern, group]) => (pattern === kept || pattern.includes('#') ? group : group.slice(1)));
}

function mostCommon(rows: readonly (Row | undefined)[], pages: number): string | undefined {
  const [pattern, group] = [...groupRepeated(rows)].toSorted((a, b) => b[1].length - a[1].length)[0] ?? ['', []];
  return group.length >= pages * PART_OF_ALL && (pattern.match(/#/g) ?? []).length <= 1 ? pattern : undefined;
}
