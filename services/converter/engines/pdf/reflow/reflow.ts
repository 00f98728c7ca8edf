import { splitColumns } from './columns.ts';
import { removeFurniture } from './furniture.ts';
import { around, type Block, type Flow, type PageContent, type Picture, type Row, type Word } from './model.ts';
import { makeParagraphs } from './paragraphs.ts';
import { groupRows } from './rows.ts';
import { measureSizes, type Sizes } from './sizes.ts';
import { findTables } from './tables.ts';

/** A picture that covers so much of a page with text on it is the paper, such as a scan below recognised text. */
const PAPER_MIN = 0.8;

/** Pictures smaller than this, in points, are parts of drawings: dots and lines. */
const PICTURE_POINTS_MIN = 8;

/** Finds out what the words of a document are: titles, paragraphs, lists and tables, in the order in which people read them. */
export function reflow(contents: readonly PageContent[]): Flow {
  const { pages, header, footer } = removeFurniture(contents);
  const sizes = measureSizes(pages.flatMap((words) => groupRows(words)));
  return {
    pages: contents.map((content, index) => ({ width: content.width, height: content.height, blocks: blocksOfPage(content, pages[index] ?? [], sizes) })),
    bodySize: sizes.body,
    header,
    footer,
  };
}

function blocksOfPage(content: PageContent, words: readonly Word[], sizes: Sizes): readonly Block[] {
  const blocks: Block[] = splitColumns(words).flatMap((zone) => blocksOfZone(zone, sizes));
  for (const picture of content.pictures) if (isWorthKeeping(picture, content, words.length > 0)) insert(blocks, picture);
  return blocks;
}

function blocksOfZone(words: readonly Word[], sizes: Sizes): readonly Block[] {
  const column = around(words);
  const blocks: Block[] = [];
  let rows: Row[] = [];
  const flush = (): void => {
    blocks.push(...makeParagraphs(rows, column, sizes));
    rows = [];
  };
  for (const found of findTables(groupRows(words))) {
    if ('row' in found) rows.push(found.row);
    else {
      flush();
      blocks.push(found.table);
    }
  }
  flush();
  return blocks;
}

function isWorthKeeping(picture: Picture, { width, height }: PageContent, hasText: boolean): boolean {
  const [wide, high] = [picture.right - picture.left, picture.bottom - picture.top];
  if (wide < PICTURE_POINTS_MIN || high < PICTURE_POINTS_MIN) return false;
  return !hasText || wide * high < width * height * PAPER_MIN;
}

/** Before the first block of its own column that begins below its middle. */
function insert(blocks: Block[], picture: Picture): void {
  const middle = (picture.top + picture.bottom) / 2;
  const below = blocks.findIndex(({ box }) => box.top >= middle && box.left < picture.right && box.right > picture.left);
  blocks.splice(below === -1 ? blocks.length : below, 0, { kind: 'picture', picture, box: picture });
}
