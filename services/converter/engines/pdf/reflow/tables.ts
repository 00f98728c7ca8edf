import { around, type Block, type Row, type Word } from './model.ts';
import { rowOf, splitRow } from './rows.ts';
import { hasLeader, joinRows } from './runs.ts';
import { markerOf } from './markers.ts';
import { COLUMN_GAP, separatorsOf, sizeOfRows } from './separators.ts';

/** Gap between cells that alone makes a line one of a table, in sizes of letters. */
const WIDE_GAP = 0.75;

/** One line at least has a gap like this, which no justified text has, in sizes of letters. */
const VERY_WIDE_GAP = 1.2;

/** Lines of one piece, for each line of several: more of them are text, and no table. */
const SINGLE_MAX = 1;

/** Lines of one piece that do not begin in the first column: a cell may be broken into so many. */
const HANGING_MAX = 6;

/** Lines that are further apart belong to different tables, in heights of a line. */
const DISTANCE_MAX = 2.5;

/** Lines closer than this, in sizes of letters, may be one cell that was broken. */
const TIGHT = 0.25;

/** A table, or a line that is not in one. */
export type RowOrTable = { readonly row: Row } | { readonly table: Extract<Block, { kind: 'table' }> };

/** Stretches of a line that are taken, from left to right, not touching each other. */
type Stretches = readonly (readonly [left: number, right: number])[];

/** Finds the lines that are rows of tables. */
export function findTables(rows: readonly Row[]): readonly RowOrTable[] {
  const found: RowOrTable[] = [];
  for (let start = 0; start < rows.length; ) {
    const end = endOfTable(rows, start);
    const [row] = rows.slice(start, start + 1);
    if (row === undefined) break;
    if (end === undefined) {
      found.push({ row });
      start += 1;
      continue;
    }
    const header = takeHeader(found, rows.slice(start, end));
    found.push({ table: tableOf(header, rows.slice(start, end)) });
    start = end;
  }
  return found;
}

/** The index behind the last line of a table that begins at `start`; undefined where none begins. */
function endOfTable(rows: readonly Row[], start: number): number | undefined {
  const first = rows[start];
  if (first === undefined || !isSeed(first)) return undefined;
  let taken = stretchesOf(first);
  let [end, seeds, single, hanging, lastSeed] = [start + 1, 1, 0, 0, start + 1];
  for (let before = first; end < rows.length; end += 1) {
    const row = rows[end];
    if (row === undefined || row.top - before.bottom > DISTANCE_MAX * (before.bottom - before.top)) break;
    const joined = join(taken, stretchesOf(row));
    if (joined.length < 2 || hasLeader(row) || isSoleItem(row)) break;
    taken = joined;
    before = row;
    if (isSeed(row)) [seeds, lastSeed] = [seeds + 1, end + 1];
    else if (row.left < (taken[1]?.[0] ?? 0)) single += 1;
    else hanging += 1;
    if (single > seeds * SINGLE_MAX || hanging > seeds * HANGING_MAX) break;
  }
  return seeds >= 2 && isSure(rows.slice(start, lastSeed)) ? trailing(rows, lastSeed, end) : undefined;
}

/** True where a gap between columns is as wide in some line as no gap in a text is. */
function isSure(rows: readonly Row[]): boolean {
  const separators = separatorsOf(rows);
  return rows.some((row) => {
    const pieces = splitRow(row, VERY_WIDE_GAP);
    return pieces.slice(1).some(({ left }, index) => separators.some((x) => x <= left && x >= (pieces[index]?.right ?? 0)));
  });
}

/** Single lines behind the last proper one are kept where they continue a cell, not where a paragraph begins. */
function trailing(rows: readonly Row[], lastSeed: number, end: number): number {
  let kept = lastSeed;
  while (kept < end) {
    const [before, row] = [rows[kept - 1], rows[kept]];
    if (before === undefined || row === undefined || row.top - before.bottom > TIGHT * row.size) break;
    kept += 1;
  }
  return kept;
}

function isSeed(row: Row): boolean {
  if (hasLeader(row) || row.words.every(({ mono }) => mono)) return false;
  const pieces = splitRow(row, WIDE_GAP).length;
  return pieces >= 3 || (pieces === 2 && !isSoleItem(row));
}

/** An item of a list: its marker, and a text that is one piece. */
function isSoleItem(row: Row): boolean {
  const marker = markerOf(row);
  return marker !== undefined && splitRow(rowOf(row.words.slice(marker.words)), WIDE_GAP).length === 1;
}

function stretchesOf(row: Row): Stretches {
  return join([], row.words.map(({ left, right }) => [left, right] as const), row.size * COLUMN_GAP);
}

/** Both together, as stretches with gaps between them that are wider than `gap` points. */
function join(a: Stretches, b: Stretches, gap = 3): Stretches {
  const joined: [number, number][] = [];
  for (const [left, right] of [...a, ...b].toSorted((x, y) => x[0] - y[0])) {
    const last = joined.at(-1);
    if (last !== undefined && left - last[1] <= gap) last[1] = Math.max(last[1], right);
    else joined.push([left, right]);
  }
  return joined;
}

/** The line above may be the heads of the columns though its gaps are narrow; it is then taken back from `found`. */
function takeHeader(found: RowOrTable[], body: readonly Row[]): readonly Row[] {
  const [above, first] = [found.at(-1), body[0]];
  if (above === undefined || first === undefined || !('row' in above)) return [];
  const { row } = above;
  if (row.words.length < 2 || hasLeader(row) || markerOf(row) !== undefined || first.top - row.bottom > DISTANCE_MAX * (row.bottom - row.top)) return [];
  const box = around(body);
  if (row.left < box.left - row.size || row.right > box.right + row.size) return [];
  const columns = separatorsOf(body).length + 1;
  const crossed = separatorsOf(body).filter((x) => row.words.some(({ left, right }) => left < x - 1 && right > x + 1)).length;
  const filled = cellsOf(row.words, separatorsOf(body)).filter((cell) => cell.length > 0).length;
  if (crossed > columns * 0.6 || filled < columns / 2 || row.words.length > columns * 3) return [];
  found.pop();
  return [row];
}

function tableOf(header: readonly Row[], body: readonly Row[]): Extract<Block, { kind: 'table' }> {
  const separators = separatorsOf(body);
  const lines = [...header, ...body];
  const box = around(lines);
  const edges = [box.left, ...separators, box.right];
  const gaps = lines.slice(1).map((row, index) => row.top - (lines[index]?.bottom ?? row.top)).toSorted((a, b) => a - b);
  const usual = gaps[Math.floor(gaps.length / 2)] ?? 0;
  const rows: Word[][][][] = [];
  for (const [index, row] of lines.entries()) {
    const cells = cellsOf(row.words, separators);
    const last = rows.at(-1);
    const gap = row.top - (lines[index - 1]?.bottom ?? -Infinity);
    const continues = last !== undefined && cells[0]?.length === 0 && gap < TIGHT * row.size && usual > TIGHT * row.size;
    if (continues) for (const [column, words] of cells.entries()) (words.length > 0 ? last[column] : undefined)?.push(words);
    else rows.push(cells.map((words) => (words.length > 0 ? [words] : [])));
  }
  return {
    kind: 'table',
    size: sizeOfRows(lines),
    rows: rows.map((cells) => cells.map((cell) => joinRows(cell))),
    box,
    widths: edges.slice(1).map((edge, index) => Math.max(1, edge - (edges[index] ?? 0))),
  };
}

function cellsOf(words: readonly Word[], separators: readonly number[]): Word[][] {
  const cells: Word[][] = Array.from({ length: separators.length + 1 }, () => []);
  for (const word of words) cells[separators.filter((x) => x <= word.left + 1).length]?.push(word);
  return cells;
}
