import { rm } from 'node:fs/promises';
import { z } from 'zod';
import { zipOptions } from '../../../../shared/domain/catalogue/options/pdf.ts';
import { convertImage } from '../image/convert.ts';
import { EngineFailure } from '../failure.ts';
import { PIXELS_MAX } from '../image/limits.ts';
import type { DrawnOutput } from '../image/outputs.ts';
import { sizeOfPage, type PageSize } from './inspect.ts';
import { runToolWell } from './tool.ts';
import { createZip } from './zip.ts';

const POINTS_PER_INCH = 72;

/** Enough for print in small, and for reading on any screen. */
const DPI_DEFAULT = 150;

/** Finer than the `dpi` option allows would only blow up curves. */
const DPI_MAX = 1200;

const DPI_MIN = 10;

/** Pages of one archive of pictures; each takes time of its own. */
const PICTURES_MAX = 500;

/** The drawn page on its way to the encoder; TIFF without compression costs nothing to write and to read. */
const DRAWN = 'page';

/** The options that decide how a page is drawn; all others go to the image encoder. */
const drawing = z.object({
  page: z.int().min(1).default(1),
  dpi: z.number().optional(),
  width: z.number().optional(),
  height: z.number().optional(),
});

/**
 * Draws one page and stores it as the image engine would store a photograph.
 * @throws EngineFailure `page_not_found`, `too_many_pixels`, or what `convertImage` throws.
 */
export async function convertPage(pdf: { path: string; pages: number }, result: string, output: DrawnOutput, options: Readonly<Record<string, unknown>>): Promise<void> {
  const { page, dpi, width, height } = drawing.parse(options);
  if (page > pdf.pages) throw new EngineFailure('page_not_found');
  const { page: _page, dpi: _dpi, password: _password, ...stored } = options;
  const size = await sizeOfPage(pdf.path, page);
  await drawPage(pdf.path, page, dpi ?? dpiFor(size, width, height), size);
  await convertImage({ kind: 'convert', source: `${DRAWN}.tif`, result, input: 'tiff', output, options: stored });
}

/**
 * Draws pages into an archive, one picture each, named by their numbers.
 * @throws EngineFailure `too_many_pages`, `too_many_pixels`, or what `convertImage` throws.
 */
export async function convertPages(path: string, pages: readonly number[], result: string, options: Readonly<Record<string, unknown>>): Promise<void> {
  const { dpi = DPI_DEFAULT, image_format = 'png', quality } = zipOptions.parse(options);
  if (pages.length > PICTURES_MAX) throw new EngineFailure('too_many_pages');
  const stored = image_format === 'jpg' && quality !== undefined ? { quality } : {};
  const picture = `picture.${image_format}`;
  const zip = await createZip(result);
  for (const page of pages) {
    await drawPage(path, page, dpi, await sizeOfPage(path, page));
    await convertImage({ kind: 'convert', source: `${DRAWN}.tif`, result: picture, input: 'tiff', output: image_format, options: stored });
    await zip.add(`page-${String(page).padStart(3, '0')}.${image_format}`, picture);
  }
  await zip.close();
  await rm(`${DRAWN}.tif`);
}

async function drawPage(path: string, page: number, dpi: number, { width, height }: PageSize): Promise<void> {
  const scale = dpi / POINTS_PER_INCH;
  if (Math.ceil(width * scale) * Math.ceil(height * scale) > PIXELS_MAX) throw new EngineFailure('too_many_pixels');
  const one = ['-f', String(page), '-l', String(page), '-singlefile'];
  await runToolWell('pdftoppm', ['-q', ...one, '-r', dpi.toFixed(2), '-tiff', '-tiffcompression', 'none', path, DRAWN]);
}

/** As fine as the wanted size needs, so that letters are drawn and not enlarged. */
function dpiFor(size: PageSize, width: number | undefined, height: number | undefined): number {
  const scales = [width === undefined ? [] : width / size.width, height === undefined ? [] : height / size.height].flat();
  return scales.length === 0 ? DPI_DEFAULT : Math.min(DPI_MAX, Math.max(DPI_MIN, Math.max(...scales) * POINTS_PER_INCH));
}
