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

/** A line that stands on a smaller part of the pages is text, too; left and right pages may differ. */
const PART_MIN = 0.3;

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
  const [header, footer] = [countTexts(edges.map(({ first }) => first)), countTexts(edges.map(({ last }) => last))];
  const least = Math.max(PAGES_MIN, pages.length * PART_MIN);
  const repeated = (row: Row | undefined, counts: ReadonlyMap<string, number>): readonly Word[] => (row !== undefined && (counts.get(patternOf(row)) ?? 0) >= least ? row.words : []);
  return {
    pages: pages.map(({ words }, index) => {
      const gone = new Set([...repeated(edges[index]?.first, header), ...repeated(edges[index]?.last, footer)]);
      return words.filter((word) => !gone.has(word));
    }),
    header: mostCommon(header, pages.length),
    footer: mostCommon(footer, pages.length),
  };
}

function edgesOf({ words, height }: PageOfWords): { first: Row | undefined; last: Row | undefined } {
  const rows = groupRows(words);
  const [first, last] = [rows[0], rows.at(-1)];
  return { first: first !== undefined && first.bottom <= height * TOP ? first : undefined, last: last !== undefined && last !== first && last.top >= height * BOTTOM ? last : undefined };
}

/** The line with `#` for every number, Roman page numbers of prefaces among them. */
function patternOf({ words }: Row): string {
  return words.map(({ text }) => text).join(' ').replaceAll(/\d+/g, '#').replace(/^[ivxl]+$/, '#');
}

function countTexts(rows: readonly (Row | undefined)[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const row of rows) if (row !== undefined) counts.set(patternOf(row), (counts.get(patternOf(row)) ?? 0) + 1);
  return counts;
}

function mostCommon(counts: ReadonlyMap<string, number>, pages: number): string | undefined {
  const [text, count] = [...counts].toSorted((a, b) => b[1] - a[1])[0] ?? ['', 0];
  return count >= Math.max(PAGES_MIN, pages * PART_OF_ALL) && (text.match(/#/g) ?? []).length <= 1 ? text : undefined;
}
