import { readFile, readdir, rm, stat } from 'node:fs/promises';
import sharp from 'sharp';
import type { PageRange } from '../../../../../shared/domain/catalogue/options/page-ranges.ts';
import { EngineFailure } from '../../failure.ts';
import { runToolWell } from '../tool.ts';
import type { PageContent, Picture } from './model.ts';
import { readStyles, readWords, type PictureFile } from './read-xml.ts';
import { styleWords } from './style-words.ts';

/** Pages that are read at once: their pictures lie on the disk until they are made small. */
const PAGES_AT_ONCE = 25;

/** Pages of which content is taken out; longer documents are split before. */
const PAGES_MAX = 2_000;

/** Bytes of XML about so many pages; a page of a newspaper has half a megabyte. */
const XML_BYTES_MAX = 48 * 1024 * 1024;

/** Words of a document: three times those of the longest novel. */
const WORDS_MAX = 1_000_000;

/** Bytes of all pictures of a document, after they were made small. */
const PICTURES_BYTES_MAX = 40 * 1024 * 1024;

/** Dots per inch of the page that are kept of a picture. */
const PICTURE_DPI = 200;

/** Pixels of a picture that is decoded. */
const PICTURE_PIXELS_MAX = 100_000_000;

const POINTS_PER_INCH = 72;

/** How the program begins the names of what it writes. */
const PREFIX = 'flow';

/**
 * Reads words, styles and pictures of pages.
 * @throws EngineFailure `damaged`, `too_many_pages`, `unpacks_too_large`, and `no_text` where there is none.
 */
export async function readPdf(path: string, ranges: readonly Required<PageRange>[]): Promise<readonly PageContent[]> {
  const contents: PageContent[] = [];
  const budget = { words: WORDS_MAX, pictureBytes: PICTURES_BYTES_MAX };
  for (const { first, last = first } of ranges) {
    if (contents.length + last - first + 1 > PAGES_MAX) throw new EngineFailure('too_many_pages');
    for (let start = first; start <= last; start += PAGES_AT_ONCE) {
      const pages = await readPages(path, start, Math.min(last, start + PAGES_AT_ONCE - 1), budget);
      contents.push(...pages);
      budget.words -= pages.reduce((sum, { words }) => sum + words.length, 0);
      if (budget.words < 0) throw new EngineFailure('unpacks_too_large');
    }
  }
  if (contents.every(({ words }) => words.length === 0)) throw new EngineFailure('no_text');
  return contents;
}

async function readPages(path: string, first: number, last: number, budget: { pictureBytes: number }): Promise<readonly PageContent[]> {
  const range = ['-f', String(first), '-l', String(last)];
  await runToolWell('pdftotext', ['-q', ...range, '-bbox', '-enc', 'UTF-8', path, `${PREFIX}-words.html`]);
  // Text that is not drawn is what was recognised on a scan.
  await runToolWell('pdftohtml', ['-q', '-xml', '-hidden', '-zoom', '1', '-noroundcoord', ...range, '-enc', 'UTF-8', path, `${PREFIX}.xml`]);
  const words = readWords(await readBounded(`${PREFIX}-words.html`));
  const styles = readStyles(await readBounded(`${PREFIX}.xml`));
  const contents: PageContent[] = [];
  for (const [index, page] of words.entries()) {
    const styled = styles[index] ?? { fragments: [], pictures: [] };
    const pictures: Picture[] = [];
    for (const file of styled.pictures) pictures.push(...(await readPicture(file, budget)));
    contents.push({ width: page.width, height: page.height, words: styleWords(page.words, styled.fragments), pictures });
  }
  for (const name of await readdir('.')) if (name.startsWith(PREFIX)) await rm(name);
  return contents;
}

async function readBounded(path: string): Promise<string> {
  if ((await stat(path)).size > XML_BYTES_MAX) throw new EngineFailure('unpacks_too_large');
  return readFile(path, 'utf8');
}

/** How many pixels are kept over a length on the page. */
function pixels(lengthPoints: number): number {
  return Math.max(1, Math.ceil((lengthPoints / POINTS_PER_INCH) * PICTURE_DPI));
}

/** No picture where it cannot be decoded: a document without it is worth more than none. */
async function readPicture({ file, ...box }: PictureFile, budget: { pictureBytes: number }): Promise<readonly Picture[]> {
  try {
    const image = sharp(await readFile(file), { limitInputPixels: PICTURE_PIXELS_MAX }).resize({ width: pixels(box.right - box.left), height: pixels(box.bottom - box.top), fit: 'outside', withoutEnlargement: true });
    const jpeg = file.endsWith('.jpg');
    const bytes = await (jpeg ? image.jpeg({ quality: 85 }) : image.png()).toBuffer();
    budget.pictureBytes -= bytes.length;
    if (budget.pictureBytes < 0) throw new EngineFailure('unpacks_too_large');
    return [{ ...box, mime: jpeg ? 'image/jpeg' : 'image/png', bytes }];
  } catch (error) {
    if (error instanceof EngineFailure) throw error;
    return [];
  }
}
