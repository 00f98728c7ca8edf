import { around, textOfRuns, type Block, type Box, type Flow, type FlowPage } from '../reflow/model.ts';
import { flatDocument, FONTS, odfPicture, odfRuns } from './odf.ts';
import { listStyles, odfList } from './odf-lists.ts';
import { StyleBook } from './style-book.ts';
import { points } from './xml.ts';

/** Blocks that are one text: further apart than this, in sizes of letters, they get frames of their own. */
const TOGETHER = 2.5;

/** Room that letters may need more than they did, as part of a frame's width. */
const ROOM = 0.06;

/** A part of a slide, and where it stands. */
interface Frame {
  readonly box: Box;
  readonly blocks: readonly Block[];
  readonly isTitle: boolean;
}

/** Writes each page as a slide of its own: a title, texts that can be edited, tables and pictures, where they stood. */
export function writeFlatSlides(flow: Flow): string {
  const styles = new StyleBook();
  const { width, height } = flow.pages[0] ?? { width: 720, height: 540 };
  const body = flow.pages.map((page, index) => writeSlide(page, index + 1, Math.min(width / page.width, height / page.height), styles)).join('\n');
  const size = `fo:page-width="${points(width)}" fo:page-height="${points(height)}" style:print-orientation="${width > height ? 'landscape' : 'portrait'}"`;
  const layout = `<style:page-layout style:name="Slide"><style:page-layout-properties ${size} fo:margin="0pt"/></style:page-layout><style:style style:name="Background" style:family="drawing-page"/>`;
  return flatDocument({
    kind: 'presentation',
    styles: `<style:presentation-page-layout style:name="TitleOnly"><presentation:placeholder presentation:object="title" svg:x="0pt" svg:y="0pt" svg:width="${points(width)}" svg:height="60pt"/></style:presentation-page-layout>`,
    automaticStyles: layout + listStyles() + styles.toXml(),
    masterStyles: '<style:master-page style:name="Default" style:page-layout-name="Slide" draw:style-name="Background"/>',
    body,
  });
}

function writeSlide(page: FlowPage, number: number, scale: number, styles: StyleBook): string {
  const frames = framesOf(page).map((frame) => writeFrame(frame, scale, styles)).join('\n');
  return `<draw:page draw:name="Slide ${number}" draw:master-page-name="Default" draw:style-name="Background" presentation:presentation-page-layout-name="TitleOnly">${frames}</draw:page>`;
}

/** The first title stands alone; texts below each other share a frame, so that they can be edited as one. */
function framesOf({ blocks }: FlowPage): readonly Frame[] {
  const title = blocks.find(({ kind }) => kind === 'heading');
  const frames: { box: Box; blocks: Block[]; isTitle: boolean }[] = [];
  for (const block of blocks) {
    const last = frames.at(-1);
    const isTitle = block === title;
    if (!isTitle && last !== undefined && !last.isTitle && joins(last, block)) {
      last.blocks.push(block);
      last.box = around([last.box, block.box]);
    } else frames.push({ box: block.box, blocks: [block], isTitle });
  }
  return frames;
}

function joins({ box, blocks }: Frame, block: Block): boolean {
  const last = blocks.at(-1);
  if (last === undefined || !isText(last) || !isText(block)) return false;
  const gap = block.box.top - box.bottom;
  return gap >= -1 && gap < TOGETHER * block.size && block.box.left < box.right && block.box.right > box.left;
}

function isText(block: Block): block is Extract<Block, { kind: 'heading' | 'paragraph' | 'list' }> {
  return block.kind === 'heading' || block.kind === 'paragraph' || block.kind === 'list';
}

function writeFrame({ box, blocks, isTitle }: Frame, scale: number, styles: StyleBook): string {
  const width = (box.right - box.left) * (1 + ROOM) * scale;
  const place = `svg:x="${points(box.left * scale)}" svg:y="${points(box.top * scale)}" svg:width="${points(width)}" svg:height="${points((box.bottom - box.top) * scale)}"`;
  const [first] = blocks;
  if (first?.kind === 'picture') return `<draw:frame ${place}>${odfPicture(first.picture)}</draw:frame>`;
  if (first?.kind === 'table') return `<draw:frame ${place}>${writeTable(first, scale, styles)}</draw:frame>`;
  const look = '<style:graphic-properties draw:stroke="none" draw:fill="none" fo:padding="0pt" draw:auto-grow-height="true" fo:wrap-option="wrap"/>';
  const style = isTitle ? `presentation:class="title" presentation:style-name="${styles.name('presentation', look)}"` : `draw:style-name="${styles.name('graphic', look)}"`;
  return `<draw:frame ${style} ${place}><draw:text-box>${blocks.map((block) => writeText(block, scale, styles)).join('')}</draw:text-box></draw:frame>`;
}

function writeText(block: Block, scale: number, styles: StyleBook): string {
  if (!isText(block)) return '';
  const size = block.size * scale;
  const align = block.kind === 'paragraph' && block.centered ? ' fo:text-align="center"' : ' fo:text-align="left"';
  const bold = block.kind === 'heading' ? ' fo:font-weight="bold"' : '';
  const style = styles.name('paragraph', `<style:paragraph-properties fo:margin-bottom="${points(size * 0.3)}"${align}/><style:text-properties style:font-name="${FONTS.titles}" fo:font-size="${points(size)}"${bold}/>`);
  return block.kind === 'list' ? odfList(block.items, styles, style) : `<text:p text:style-name="${style}">${odfRuns(block.runs, styles, size)}</text:p>`;
}

function writeTable({ rows, widths, size }: Extract<Block, { kind: 'table' }>, scale: number, styles: StyleBook): string {
  const columns = widths.map((width) => `<table:table-column table:style-name="${styles.name('table-column', `<style:table-column-properties style:column-width="${points(width * scale)}"/>`)}"/>`).join('');
  const cell = styles.name('table-cell', '<style:graphic-properties draw:fill="none" fo:padding="1pt"/><style:table-cell-properties fo:border="0.5pt solid #a0a0a0"/>');
  const paragraph = styles.name('paragraph', `<style:text-properties fo:font-size="${points(size * scale)}"/>`);
  const body = rows.map((cells) => `<table:table-row>${cells.map((runs) => `<table:table-cell table:style-name="${cell}"><text:p text:style-name="${paragraph}">${textOfRuns(runs) === '' ? '' : odfRuns(runs, styles, size * scale)}</text:p></table:table-cell>`).join('')}</table:table-row>`).join('');
  return `<table:table>${columns}${body}</table:table>`;
}
