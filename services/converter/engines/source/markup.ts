import { EngineFailure } from '../failure.ts';
import type { Archive } from './archive.ts';
import { textOf, type ArchiveKind } from './archive-kinds.ts';

/** Characters of markup in which a document type has to stand: it comes before the first element. */
const PROLOGUE_CHARACTERS = 4_096;

/** Cells of all sheets together: LibreOffice takes about a minute and 3 GB for so many. */
const CELLS_MAX = 5_000_000;

const OFFICE_OPEN_XML: ReadonlySet<ArchiveKind> = new Set(['docx', 'xlsx', 'pptx']);
const MARKUP = /\.(?:xml|rels|vml|opf|ncx|x?html?)$/i;
const SHEET = /^xl\/worksheets\/[^/]+\.xml$/i;
const DIMENSION = /<(?:\w+:)?dimension\b[^>]*\bref\s*=\s*["']([A-Z]{1,3})(\d{1,7})(?::([A-Z]{1,3})(\d{1,7}))?["']/;

/**
 * Looks at how each piece of markup in an archive begins. Office Open XML allows no document type at all; in other
 * formats one that names a public definition is common, and one that declares entities is an attack.
 * @throws EngineFailure `unsupported_feature`, `too_many_cells`, or `damaged`.
 */
export async function checkMarkup(archive: Archive, kind: ArchiveKind): Promise<void> {
  let cells = 0;
  for (const name of archive.names.filter((each) => MARKUP.test(each))) {
    const start = textOf(await archive.readStart(name)).slice(0, PROLOGUE_CHARACTERS);
    if (declaresType(start, kind)) throw new EngineFailure('unsupported_feature');
    if (kind === 'xlsx' && SHEET.test(name)) cells += countCells(start);
    if (cells > CELLS_MAX) throw new EngineFailure('too_many_cells');
  }
}

function declaresType(start: string, kind: ArchiveKind): boolean {
  const at = start.search(/<!DOCTYPE/i);
  if (at === -1) return false;
  return OFFICE_OPEN_XML.has(kind) || /<!ENTITY/i.test(start) || /^<!DOCTYPE[^>]*\[/i.test(start.slice(at));
}

/** Cells in the range that a sheet says it uses; 0 where it does not say. */
function countCells(start: string): number {
  const [, left, top, right = left, bottom = top] = DIMENSION.exec(start) ?? [];
  if (left === undefined || right === undefined) return 0;
  return (columnOf(right) - columnOf(left) + 1) * (Number(bottom) - Number(top) + 1);
}

function columnOf(letters: string): number {
  return Buffer.from(letters).reduce((column, letter) => column * 26 + letter - 64, 0);
}
