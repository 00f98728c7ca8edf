import { textOfRuns, type Block, type Flow, type FlowPage } from '../reflow/model.ts';
import { flatDocument, FONTS, odfPicture, odfRuns } from './odf.ts';
import { listStyles, odfList } from './odf-lists.ts';
import { StyleBook } from './style-book.ts';
import { escapeXml, points } from './xml.ts';

/** Levels of titles that have a style. */
const LEVELS = 6;

/** Margins in points: at least what printers need, at most what leaves room for text. */
const [MARGIN_MIN, MARGIN_MAX] = [28, 90];

/** A page that is filled to a smaller part ended because its author wanted a new page. */
const FILLED = 0.7;

/** Sizes that differ by less, in points, are not worth a style. */
const SAME_POINTS = 1;

const BREAK = 'fo:break-before="page"';

/** Writes a document as text that flows: titles, paragraphs, lists, tables and pictures. */
export function writeFlatText(flow: Flow): string {
  const styles = new StyleBook();
  const layout = layoutOf(flow);
  const body = flow.pages.map((page, index) => writePage(page, flow.pages[index - 1], { flow, styles, width: layout.textWidth })).join('\n');
  return flatDocument({
    kind: 'text',
    styles: `${namedStyles(flow)}${listStyles()}`,
    automaticStyles: `${layout.xml}${styles.toXml()}`,
    masterStyles: `<style:master-page style:name="Standard" style:page-layout-name="Page">${running('header', flow.header)}${running('footer', flow.footer)}</style:master-page>`,
    body,
  });
}

interface Writing {
  readonly flow: Flow;
  readonly styles: StyleBook;
  /** Width of the text in points: no picture or table may be wider. */
  readonly width: number;
}

function layoutOf({ pages }: Flow): { xml: string; textWidth: number } {
  const { width, height } = pages[0] ?? { width: 595, height: 842 };
  const boxes = pages.filter((page) => page.width === width).flatMap(({ blocks }) => blocks.map(({ box }) => box));
  const margin = (value: number): number => Math.min(MARGIN_MAX, Math.max(MARGIN_MIN, value));
  const left = margin(boxes.reduce((least, box) => Math.min(least, box.left), MARGIN_MAX));
  const right = margin(width - boxes.reduce((most, box) => Math.max(most, box.right), width - MARGIN_MAX));
  const top = margin(boxes.reduce((least, box) => Math.min(least, box.top), MARGIN_MAX));
  const bottom = margin(height - boxes.reduce((most, box) => Math.max(most, box.bottom), height - MARGIN_MAX));
  const size = `fo:page-width="${points(width)}" fo:page-height="${points(height)}" style:print-orientation="${width > height ? 'landscape' : 'portrait'}"`;
  const margins = `fo:margin-left="${points(left)}" fo:margin-right="${points(right)}" fo:margin-top="${points(top)}" fo:margin-bottom="${points(bottom)}"`;
  return { xml: `<style:page-layout style:name="Page"><style:page-layout-properties ${size} ${margins}/></style:page-layout>`, textWidth: width - left - right };
}

function namedStyles({ bodySize, pages }: Flow): string {
  const sizes = new Map<number, number>();
  for (const { blocks } of pages) for (const block of blocks) if (block.kind === 'heading' && !sizes.has(block.level)) sizes.set(block.level, block.size);
  const headings = Array.from({ length: LEVELS }, (_, index) => {
    const size = sizes.get(index + 1) ?? bodySize;
    return `<style:style style:name="Heading_20_${index + 1}" style:display-name="Heading ${index + 1}" style:family="paragraph" style:parent-style-name="Standard" style:next-style-name="Standard" style:default-outline-level="${index + 1}"><style:paragraph-properties fo:margin-top="${points(size * 0.7)}" fo:margin-bottom="${points(size * 0.35)}" fo:keep-with-next="always"/><style:text-properties fo:font-size="${points(size)}" fo:font-weight="bold"/></style:style>`;
  }).join('');
  return `<style:style style:name="Standard" style:family="paragraph"><style:paragraph-properties fo:margin-top="0pt" fo:margin-bottom="${points(bodySize * 0.5)}"/><style:text-properties style:font-name="${FONTS.text}" fo:font-size="${points(bodySize)}"/></style:style>${headings}`;
}

function running(place: 'header' | 'footer', text: string | undefined): string {
  if (text === undefined) return '';
  return `<style:${place}><text:p>${escapeXml(text).replace('#', '<text:page-number text:select-page="current"/>')}</text:p></style:${place}>`;
}

function writePage(page: FlowPage, before: FlowPage | undefined, writing: Writing): string {
  const breaks = before !== undefined && startsAnew(page, before);
  const [first] = page.blocks;
  // Only titles and paragraphs carry a break by themselves.
  const carried = first?.kind === 'heading' || first?.kind === 'paragraph';
  const lead = breaks && !carried ? `<text:p text:style-name="${writing.styles.name('paragraph', `<style:paragraph-properties ${BREAK} fo:margin-bottom="0pt"/><style:text-properties fo:font-size="2pt"/>`, 'style:parent-style-name="Standard"')}"/>` : '';
  return lead + page.blocks.map((block, index) => writeBlock(block, writing, breaks && carried && index === 0)).join('\n');
}

/** Text runs on from page to page, unless a page ends early or another begins with a title. */
function startsAnew(page: FlowPage, before: FlowPage): boolean {
  if (page.blocks[0]?.kind === 'heading' || page.width !== before.width) return true;
  return before.blocks.reduce((most, { box }) => Math.max(most, box.bottom), 0) < before.height * FILLED;
}

function writeBlock(block: Block, writing: Writing, breaks: boolean): string {
  const { styles, flow, width } = writing;
  switch (block.kind) {
    case 'heading': {
      const name = `Heading_20_${block.level}`;
      const style = breaks ? styles.name('paragraph', `<style:paragraph-properties ${BREAK}/>`, `style:parent-style-name="${name}"`) : name;
      return `<text:h text:style-name="${style}" text:outline-level="${block.level}">${odfRuns(block.runs.map((run) => ({ ...run, bold: false })), styles)}</text:h>`;
    }
    case 'paragraph': {
      const properties = [breaks ? BREAK : '', block.centered ? 'fo:text-align="center"' : ''].filter((text) => text !== '').join(' ');
      return `<text:p text:style-name="${paragraphStyle(styles, properties, block.size, flow.bodySize)}">${odfRuns(block.runs, styles)}</text:p>`;
    }
    case 'list':
      return odfList(block.items, styles, paragraphStyle(styles, 'fo:margin-bottom="2pt"', block.size, flow.bodySize));
    case 'table':
      return writeTable(block, writing);
    case 'picture': {
      const scale = Math.min(1, width / (block.box.right - block.box.left));
      const [wide, high] = [(block.box.right - block.box.left) * scale, (block.box.bottom - block.box.top) * scale];
      return `<text:p text:style-name="Standard"><draw:frame text:anchor-type="as-char" svg:width="${points(wide)}" svg:height="${points(high)}">${odfPicture(block.picture)}</draw:frame></text:p>`;
    }
  }
}

function paragraphStyle(styles: StyleBook, properties: string, size: number, bodySize: number): string {
  const letters = Math.abs(size - bodySize) > SAME_POINTS ? `<style:text-properties fo:font-size="${points(size)}"/>` : '';
  const paragraph = properties === '' ? '' : `<style:paragraph-properties ${properties}/>`;
  return paragraph + letters === '' ? 'Standard' : styles.name('paragraph', paragraph + letters, 'style:parent-style-name="Standard"');
}

function writeTable({ rows, widths, size }: Extract<Block, { kind: 'table' }>, { styles, width, flow }: Writing): string {
  const total = widths.reduce((sum, value) => sum + value, 0);
  const scale = Math.min(1, width / total);
  const table = styles.name('table', `<style:table-properties style:width="${points(total * scale)}" table:align="left" fo:margin-bottom="6pt"/>`);
  const columns = widths.map((value) => `<table:table-column table:style-name="${styles.name('table-column', `<style:table-column-properties style:column-width="${points(value * scale)}"/>`)}"/>`).join('');
  const cell = styles.name('table-cell', '<style:table-cell-properties fo:border="0.5pt solid #a0a0a0" fo:padding="2pt"/>');
  const paragraph = paragraphStyle(styles, 'fo:margin-bottom="0pt"', size, flow.bodySize);
  const body = rows.map((cells) => `<table:table-row>${cells.map((runs) => `<table:table-cell table:style-name="${cell}" office:value-type="string"><text:p text:style-name="${paragraph}">${textOfRuns(runs) === '' ? '' : odfRuns(runs, styles)}</text:p></table:table-cell>`).join('')}</table:table-row>`).join('\n');
  return `<table:table table:style-name="${table}">${columns}${body}</table:table>`;
}
