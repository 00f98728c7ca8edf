import { textOfRuns, type Block, type Flow, type FlowPage, type Run } from '../reflow/model.ts';
import { readValue } from '../reflow/values.ts';
import { flatDocument } from './odf.ts';
import { StyleBook } from './style-book.ts';
import { escapeXml, points } from './xml.ts';

/** Rows of one sheet: what the formats of old can hold. */
const ROWS_MAX = 65_536;

/** Width of a column in points, where the page says nothing: a word fits. */
const [COLUMN_MIN, COLUMN_MAX] = [40, 400];

type Cells = readonly (readonly Run[])[];

/** Rows of one or several pages. */
interface Sheet {
  readonly firstPage: number;
  lastPage: number;
  readonly rows: Cells[];
  readonly widths: readonly number[];
}

/** Writes a document as sheets: one for each page, but one for all pages over which a table goes on. */
export function writeFlatSheets(flow: Flow): string {
  const styles = new StyleBook();
  const sheets: Sheet[] = [];
  for (const [index, page] of flow.pages.entries()) {
    const last = sheets.at(-1);
    const before = flow.pages[index - 1];
    if (last !== undefined && before !== undefined && goesOn(before, page) && last.rows.length < ROWS_MAX) {
      last.rows.push(...withoutHead(rowsOfPage(page), last.rows));
      last.lastPage = index + 1;
    } else sheets.push({ firstPage: index + 1, lastPage: index + 1, rows: [...rowsOfPage(page)], widths: widthsOf(page) });
  }
  const body = sheets.map((sheet) => writeSheet(sheet, styles)).join('\n');
  return flatDocument({ kind: 'spreadsheet', styles: dataStyles(), automaticStyles: cellStyles() + styles.toXml(), masterStyles: '', body });
}

/** A table that ends one page and begins the next with as many columns is one. */
function goesOn(before: FlowPage, page: FlowPage): boolean {
  const [last, first] = [before.blocks.at(-1), page.blocks[0]];
  return last?.kind === 'table' && first?.kind === 'table' && last.widths.length === first.widths.length;
}

/** Without the first row, where it is the head of the table once more. */
function withoutHead(rows: readonly Cells[], before: readonly Cells[]): readonly Cells[] {
  const text = (cells: Cells | undefined): string => (cells ?? []).map((runs) => textOfRuns(runs)).join('\t');
  const first = text(rows[0]);
  return first !== '' && before.slice(0, 3).some((row) => text(row) === first) ? rows.slice(1) : rows;
}

function rowsOfPage({ blocks }: FlowPage): readonly Cells[] {
  return blocks.flatMap((block, index) => {
    const rows = rowsOfBlock(block);
    // An empty row between a table and what is around it.
    return index > 0 && (block.kind === 'table' || blocks[index - 1]?.kind === 'table') ? [[], ...rows] : rows;
  });
}

function rowsOfBlock(block: Block): readonly Cells[] {
  switch (block.kind) {
    case 'heading':
    case 'paragraph':
      return [splitTabs(block.runs)];
    case 'list':
      return block.items.map(({ runs }) => [runs]);
    case 'table':
      return block.rows;
    case 'picture':
      return [];
  }
}

/** A tabulator begins another cell. */
function splitTabs(runs: readonly Run[]): Cells {
  const cells: Run[][] = [[]];
  for (const run of runs) {
    for (const [index, text] of run.text.split('\t').entries()) {
      if (index > 0) cells.push([]);
      if (text !== '') cells.at(-1)?.push({ ...run, text });
    }
  }
  return cells;
}

function widthsOf({ blocks }: FlowPage): readonly number[] {
  return blocks.find((block) => block.kind === 'table')?.widths ?? [];
}

function writeSheet({ firstPage, lastPage, rows, widths }: Sheet, styles: StyleBook): string {
  const name = firstPage === lastPage ? `Page ${firstPage}` : `Pages ${firstPage}-${lastPage}`;
  const columns = widths.map((width) => `<table:table-column table:style-name="${styles.name('table-column', `<style:table-column-properties style:column-width="${points(Math.min(COLUMN_MAX, Math.max(COLUMN_MIN, width)))}"/>`)}"/>`).join('');
  const body = rows.slice(0, ROWS_MAX).map((cells) => `<table:table-row>${cells.length === 0 ? '<table:table-cell/>' : cells.map((runs) => writeCell(runs)).join('')}</table:table-row>`).join('\n');
  return `<table:table table:name="${name}">${columns === '' ? '<table:table-column/>' : columns}${body}</table:table>`;
}

function writeCell(runs: readonly Run[]): string {
  const value = readValue(textOfRuns(runs));
  const shown = `<text:p>${escapeXml(value.text)}</text:p>`;
  if (value.text === '') return '<table:table-cell/>';
  switch (value.type) {
    case 'number':
      return value.format === 'percent'
        ? `<table:table-cell table:style-name="Percent" office:value-type="percentage" office:value="${value.value}">${shown}</table:table-cell>`
        : `<table:table-cell office:value-type="float" office:value="${value.value}">${shown}</table:table-cell>`;
    case 'date':
      return `<table:table-cell table:style-name="Date" office:value-type="date" office:date-value="${value.iso}">${shown}</table:table-cell>`;
    case 'text':
      return `<table:table-cell${runs.every(({ bold }) => bold) ? ' table:style-name="Bold"' : ''} office:value-type="string">${shown}</table:table-cell>`;
  }
}

function dataStyles(): string {
  return `<number:date-style style:name="IsoDate"><number:year number:style="long"/><number:text>-</number:text><number:month number:style="long"/><number:text>-</number:text><number:day number:style="long"/></number:date-style>
<number:percentage-style style:name="Percentage"><number:number number:min-integer-digits="1"/><number:text>%</number:text></number:percentage-style>`;
}

function cellStyles(): string {
  return `<style:style style:name="Date" style:family="table-cell" style:data-style-name="IsoDate"/>
<style:style style:name="Percent" style:family="table-cell" style:data-style-name="Percentage"/>
<style:style style:name="Bold" style:family="table-cell"><style:text-properties fo:font-weight="bold"/></style:style>`;
}
