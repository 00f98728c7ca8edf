import { EngineFailure } from '../../../failure.ts';
import { escapeText } from '../html/escape.ts';
import type { TextOptions } from '../task.ts';
import { quoteCell, writeCell } from './cells.ts';
import { CHARACTER_OF, findDelimiter } from './delimiters.ts';
import { readRows } from './read.ts';

/** Cells of one csv; as many as of any other spreadsheet. */
const CELLS_MAX = 5_000_000;

/** What a sheet of xlsx or ods holds; the office program would drop the rest without a word. */
const ROWS_MAX = 1_048_576;
const COLUMNS_MAX = 16_384;

/** Delimiter of the csv that is handed to the office program. */
const CELL_DELIMITER = '\t';

/**
 * Goes through the rows of a csv.
 * @throws EngineFailure `too_many_cells`.
 */
function* readTable(text: string, options: TextOptions): Generator<readonly string[]> {
  const { text: rest, delimiter } = findDelimiter(text, options.input_delimiter);
  const { rows_max = ROWS_MAX, columns_max = COLUMNS_MAX } = options;
  let [rows, cells] = [0, 0];
  for (const row of readRows(rest, delimiter)) {
    rows += 1;
    cells += row.length;
    if (rows > rows_max || row.length > columns_max || cells > CELLS_MAX) throw new EngineFailure('too_many_cells');
    yield row;
  }
}

/** The csv again, with the client's delimiter and line ends. */
export function tableToCsv(text: string, options: TextOptions): string {
  const { delimiter: name = 'auto' } = options;
  const delimiter = CHARACTER_OF[name === 'auto' ? 'comma' : name];
  const end = options.line_endings === 'lf' ? '\n' : '\r\n';
  return join(readTable(text, options), (row) => row.map((cell) => quoteCell(cell, delimiter)).join(delimiter) + end);
}

/** The csv for the office program: see `writeCell`. */
export function tableToCells(text: string, options: TextOptions): string {
  return join(readTable(text, options), (row) => `${row.map((cell) => writeCell(cell, options.detect_numbers === true)).join(CELL_DELIMITER)}\n`);
}

/** The csv as a table of a page, cells as they are written. */
export function tableToHtml(text: string, options: TextOptions): string {
  const rows = join(readTable(text, options), (row) => `<tr>${row.map((cell) => `<td>${escapeText(cell)}</td>`).join('')}</tr>\n`);
  return `<table border="1" cellspacing="0" cellpadding="4">\n${rows}</table>\n`;
}

function join(rows: Iterable<readonly string[]>, write: (row: readonly string[]) => string): string {
  const lines: string[] = [];
  for (const row of rows) lines.push(write(row));
  return lines.join('');
}
