import type { DELIMITERS } from '../../../../../../shared/domain/catalogue/options/text.ts';
import { readRows } from './read.ts';

/** Name of a delimiter. */
export type Delimiter = (typeof DELIMITERS)[number];

/** The character of each delimiter. */
export const CHARACTER_OF: Readonly<Record<Delimiter, string>> = { comma: ',', semicolon: ';', tab: '\t', pipe: '|' };

/** Rows that are looked at: enough to see past a heading, few enough to cost nothing. */
const ROWS_LOOKED_AT = 50;

/** Characters that are looked at, however long the rows are. */
const CHARACTERS_LOOKED_AT = 65_536;

/** A first line by which spreadsheet programs tell each other the delimiter; it is no row. */
const TOLD = /^sep=([,;\t|])\r?\n/;

/** A csv whose delimiter is known. */
export interface Delimited {
  readonly text: string;
  readonly delimiter: string;
}

/** Finds out what stands between the cells: what the text says, else what makes the most rows equally wide. Quoted cells may hold any of them. */
export function findDelimiter(text: string, asked: Delimiter | 'auto' = 'auto'): Delimited {
  const told = TOLD.exec(text);
  const rest = told === null ? text : text.slice(told[0].length);
  if (asked !== 'auto') return { text: rest, delimiter: CHARACTER_OF[asked] };
  if (told?.[1] !== undefined) return { text: rest, delimiter: told[1] };
  const head = rest.slice(0, CHARACTERS_LOOKED_AT);
  const scores = Object.values(CHARACTER_OF).map((delimiter) => ({ delimiter, ...score(head, delimiter) }));
  const best = scores.reduce((one, other) => (other.share > one.share || (other.share === one.share && other.width > one.width) ? other : one));
  return { text: rest, delimiter: best.width > 1 ? best.delimiter : CHARACTER_OF.comma };
}

/** Which width most rows have, and the share of rows that have it; one column says nothing. */
function score(text: string, delimiter: string): { readonly share: number; readonly width: number } {
  const counts = new Map<number, number>();
  let rows = 0;
  for (const { length } of readRows(text, delimiter)) {
    counts.set(length, (counts.get(length) ?? 0) + 1);
    rows += 1;
    if (rows === ROWS_LOOKED_AT) break;
  }
  const [width, count] = [...counts].reduce((one, other) => (other[1] > one[1] ? other : one), [1, 0]);
  return width === 1 ? { share: 0, width } : { share: count / rows, width };
}
