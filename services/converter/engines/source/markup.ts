import { EngineFailure } from '../failure.ts';
import type { Archive } from './archive.ts';
import { textOf, type ArchiveKind } from './archive-kinds.ts';
import { CELLS_MAX, countCells } from './cells.ts';
import { checkOpenDocumentSheets, checkWorkbook } from './workbook.ts';

/** Characters of markup in which a document type has to stand: it comes before the first element. */
const PROLOGUE_CHARACTERS = 4_096;

const OFFICE_OPEN_XML: ReadonlySet<ArchiveKind> = new Set(['docx', 'xlsx', 'pptx']);
const MARKUP = /\.(?:xml|rels|vml|opf|ncx|x?html?)$/i;
/** Their names are for the file to choose. */
const SHEET = /<(?:\w{1,20}:)?worksheet[\s>]/;
const TEXTS = /<(?:\w{1,20}:)?sst[\s>]/;

/**
 * Looks at how each piece of markup in an archive begins. Office Open XML allows no document type at all; in other
 * formats one that names a public definition is common, and one that declares entities is an attack. Workbooks are also
 * asked for how much they would show.
 * @throws EngineFailure `unsupported_feature`, `too_many_cells`, `too_much_text`, or `damaged`.
 */
export async function checkMarkup(archive: Archive, kind: ArchiveKind): Promise<void> {
  let cells = 0;
  const [sheets, texts]: [string[], string[]] = [[], []];
  for (const name of archive.names.filter((each) => MARKUP.test(each))) {
    const start = textOf(await archive.readStart(name)).slice(0, PROLOGUE_CHARACTERS);
    if (declaresType(start, kind)) throw new EngineFailure('unsupported_feature');
    if (kind !== 'xlsx') continue;
    if (TEXTS.test(start)) texts.push(name);
    if (!SHEET.test(start)) continue;
    sheets.push(name);
    cells += await countCells(archive, name, start);
    if (cells > CELLS_MAX) throw new EngineFailure('too_many_cells');
  }
  if (kind === 'xlsx') await checkWorkbook(archive, { sheets, texts });
  if (kind === 'ods') await checkOpenDocumentSheets(archive);
}

function declaresType(start: string, kind: ArchiveKind): boolean {
  const at = start.search(/<!DOCTYPE/i);
  if (at === -1) return false;
  return OFFICE_OPEN_XML.has(kind) || /<!ENTITY/i.test(start) || /^<!DOCTYPE[^>]*\[/i.test(start.slice(at));
}
