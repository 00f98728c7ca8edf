import { textOf } from './archive-kinds.ts';
import { CELLS_MAX } from './cells.ts';

/**
 * Characters that all cells of a workbook may show together. A text is stored once and shown by many cells, so a small file can
 * ask for gigabytes; five million cells with forty letters each are still below this.
 */
export const SHOWN_CHARACTERS_MAX = 200_000_000;

/** What the cells of a sheet come to. */
export interface Shown {
  /** Cells with something in them. */
  readonly cells: number;
  readonly characters: number;
}

/** The sheets of LibreOffice end there, so whatever repeats further is cut off. */
const ROWS_MAX = 1_048_576;
const COLUMNS_MAX = 16_384;

/** Characters of markup that are kept until the next piece ends them; longer texts are counted up to here. */
const KEPT_MAX = 1_000_000;

/** A tag, and the text up to the next one. */
const TAG = /<([^<>]*)>([^<]*)/g;
/** The beginning of a cell, or a value. Names may have any prefix. */
const CELL_OR_VALUE = /<(?:\w{1,20}:)?(?:(c)(\s[^<>]*)?|v(?:\s[^<>]*)?)>(\d{0,10})/g;
const REFERS = /\st\s*=\s*["']s["']/;
const END_OF_TEXT = /^\/(?:\w{1,20}:)?si\s*$/;
const ROW_OR_CELL = /^(\/?)(?:[\w.-]{1,40}:)?(table-row|table-cell|covered-table-cell)(?=[\s/]|$)/;
const FILLED = /:(?:value-type|formula)\s*=/;

type Pieces = AsyncIterable<Buffer>;

/** True when nobody could show so much. */
export function isTooMuch({ cells, characters }: Shown): boolean {
  return cells > CELLS_MAX || characters > SHOWN_CHARACTERS_MAX;
}

/** Lengths of the texts that cells refer to by number. */
export async function measureTexts(pieces: Pieces): Promise<readonly number[]> {
  const lengths: number[] = [];
  let length = 0;
  await visitMatches(pieces, TAG, ([, tag = '', text = '']) => {
    if (END_OF_TEXT.test(tag)) [length] = [0, lengths.push(length)];
    else length += text.length;
    return true;
  });
  return lengths;
}

/** What the cells of an xlsx sheet come to by the texts that they refer to; stops where it is too much. */
export async function measureSheet(pieces: Pieces, lengths: readonly number[]): Promise<Shown> {
  let [cells, characters, refers] = [0, 0, false];
  await visitMatches(pieces, CELL_OR_VALUE, ([, cell, attributes = '', value]) => {
    if (cell !== undefined) {
      refers = REFERS.test(attributes);
      return true;
    }
    cells += 1;
    if (refers) characters += lengths[Number(value)] ?? 0;
    return !isTooMuch({ cells, characters });
  });
  return { cells, characters };
}

/** What the cells of all sheets of an ods come to by being repeated; stops where it is too much. */
export async function measureOpenDocument(pieces: Pieces): Promise<Shown> {
  let [cells, characters] = [0, 0];
  let row = { repeated: 1, cells: 0, characters: 0 };
  let cell = { repeated: 0, filled: false, characters: 0 };
  const endCell = (): void => {
    row.cells += cell.filled || cell.characters > 0 ? cell.repeated : 0;
    row.characters += cell.characters * cell.repeated;
    cell = { repeated: 0, filled: false, characters: 0 };
  };
  await visitMatches(pieces, TAG, ([, tag = '', text = '']) => {
    const [, slash = '', name = ''] = tag.includes('table-') ? (ROW_OR_CELL.exec(tag) ?? []) : [];
    if (name === 'table-row' && slash === '') row = { repeated: repeatedBy(tag, 'rows', ROWS_MAX), cells: 0, characters: 0 };
    if (name === 'table-row' && slash !== '') {
      cells += row.cells * row.repeated;
      characters += row.characters * row.repeated;
    }
    if (name.endsWith('table-cell')) {
      endCell();
      if (slash === '') cell = { repeated: repeatedBy(tag, 'columns', COLUMNS_MAX), filled: FILLED.test(tag), characters: 0 };
      if (tag.endsWith('/')) endCell();
    }
    if (cell.repeated > 0 && text.trim() !== '') cell.characters += text.length;
    return !isTooMuch({ cells, characters });
  });
  return { cells, characters };
}

function repeatedBy(tag: string, what: 'rows' | 'columns', max: number): number {
  const times = Number(new RegExp(`:number-${what}-repeated\\s*=\\s*["'](\\d{1,15})["']`).exec(tag)?.[1] ?? 1);
  return Math.max(1, Math.min(times, max));
}

/** Shows all matches of a pattern that begins with `<`, until `visit` returns false. */
async function visitMatches(pieces: Pieces, pattern: RegExp, visit: (match: RegExpExecArray) => boolean): Promise<void> {
  let kept = '';
  for await (const piece of pieces) {
    kept += textOf(piece);
    const end = kept.length > KEPT_MAX ? kept.length : Math.max(0, kept.lastIndexOf('<'));
    for (const match of kept.slice(0, end).matchAll(pattern)) if (!visit(match)) return;
    kept = kept.slice(end);
  }
  for (const match of kept.matchAll(pattern)) if (!visit(match)) return;
}
