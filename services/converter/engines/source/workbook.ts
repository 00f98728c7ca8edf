import { EngineFailure } from '../failure.ts';
import type { Archive } from './archive.ts';
import { CELLS_MAX } from './cells.ts';
import { isTooMuch, measureOpenDocument, measureSheet, measureTexts, SHOWN_CHARACTERS_MAX, type Shown } from './sheet-text.ts';

/** Bytes of the shortest cell with a value: `<c><v>1</v></c>`. */
const CELL_BYTES_MIN = 15;

/** Members of an xlsx by what they are. */
export interface WorkbookParts {
  readonly sheets: readonly string[];
  /** Texts that cells refer to. */
  readonly texts: readonly string[];
}

/**
 * Refuses a workbook whose cells together show far more than is in the file, before anything decodes it. Sheets are only
 * read where their size and that of the texts leave it open.
 * @throws EngineFailure `too_many_cells`, `too_much_text` or `damaged`.
 */
export async function checkWorkbook(archive: Archive, { sheets, texts }: WorkbookParts): Promise<void> {
  const sheetBytes = sizeOf(archive, sheets);
  const cellsMax = sheetBytes / CELL_BYTES_MIN;
  if (cellsMax <= CELLS_MAX && cellsMax * sizeOf(archive, texts) <= SHOWN_CHARACTERS_MAX) return;
  const lengths: number[] = [];
  for (const name of texts) lengths.push(...(await measureTexts(archive.readPieces(name))));
  const longest = lengths.reduce((most, length) => Math.max(most, length), 0);
  if (cellsMax <= CELLS_MAX && cellsMax * longest <= SHOWN_CHARACTERS_MAX) return;
  let all: Shown = { cells: 0, characters: 0 };
  for (const name of sheets) {
    all = sum(all, await measureSheet(archive.readPieces(name), lengths));
    refuseTooMuch(all);
  }
}

/** The same for an OpenDocument workbook, which has all of its sheets in one member. @throws as `checkWorkbook`. */
export async function checkOpenDocumentSheets(archive: Archive): Promise<void> {
  refuseTooMuch(await measureOpenDocument(archive.readPieces('content.xml')));
}

function refuseTooMuch(shown: Shown): void {
  if (isTooMuch(shown)) throw new EngineFailure(shown.cells > CELLS_MAX ? 'too_many_cells' : 'too_much_text');
}

function sum(one: Shown, other: Shown): Shown {
  return { cells: one.cells + other.cells, characters: one.characters + other.characters };
}

function sizeOf(archive: Archive, names: readonly string[]): number {
  return names.reduce((bytes, name) => bytes + archive.unpackedBytes(name), 0);
}
