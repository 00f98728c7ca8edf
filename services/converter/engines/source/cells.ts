import type { Archive } from './archive.ts';
import { textOf } from './archive-kinds.ts';

/** Cells of all sheets together: LibreOffice takes about a minute and 3 GB for so many. */
export const CELLS_MAX = 5_000_000;

const DIMENSION = /<(?:\w{1,20}:)?dimension\s[^<>]{0,200}?\bref\s*=\s*["']([A-Z]{1,3})(\d{1,7})(?::([A-Z]{1,3})(\d{1,7}))?["']/;
/** A cell with something in it; one that only has a style is closed at once. */
const FILLED_CELL = /<(?:\w{1,20}:)?c\s[^<>]{0,80}?\br=["']([A-Z]{1,3})(\d{1,7})["'](?:[^<>]{0,80}[^/<>])?>/g;

/** Characters of a piece that are kept for the next one, because a cell may begin in them. */
const OVERLAP_CHARACTERS = 200;

/**
 * Cells in the range that a sheet uses; `start` is how it begins. Sheets that say they use millions, because whole
 * columns have a style, mostly do not, so these are read for the cells furthest out. @throws EngineFailure `damaged`.
 */
export async function countCells(archive: Archive, name: string, start: string): Promise<number> {
  const [, left, top, right = left, bottom = top] = DIMENSION.exec(start) ?? [];
  if (left === undefined || right === undefined) return 0;
  const said = (columnOf(right) - columnOf(left) + 1) * (Number(bottom) - Number(top) + 1);
  return said > CELLS_MAX ? measureRange(archive.readPieces(name)) : said;
}

/** From the first cell to the one furthest right and the one furthest down, whatever is between. */
async function measureRange(pieces: AsyncIterable<Buffer>): Promise<number> {
  let [columns, rows, kept] = [0, 0, ''];
  for await (const piece of pieces) {
    kept += textOf(piece);
    for (const [, letters = '', row] of kept.matchAll(FILLED_CELL)) {
      columns = Math.max(columns, columnOf(letters));
      rows = Math.max(rows, Number(row));
    }
    if (columns * rows > CELLS_MAX) break;
    kept = kept.slice(-OVERLAP_CHARACTERS);
  }
  return columns * rows;
}

function columnOf(letters: string): number {
  return Buffer.from(letters).reduce((column, letter) => column * 26 + letter - 64, 0);
}
