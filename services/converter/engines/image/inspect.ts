import sharp, { type Metadata, type SharpOptions } from 'sharp';
import type { FormatName } from '../../../../shared/domain/catalogue/formats.ts';
import type { CommonImageOptions } from '../../../../shared/domain/catalogue/options/image.ts';
import { EngineFailure } from '../failure.ts';
import { ICON_SIDE_MAX } from './icon-write.ts';
import { FRAMES_MAX, PIXELS_MAX } from './limits.ts';
import type { ImageOutput } from './outputs.ts';
import { fittedSize, turnedSize } from './size.ts';

/** Longest side that a format can store, pixels; the others can store more than is ever drawn. */
const SIDE_MAX: Partial<Readonly<Record<ImageOutput, number>>> = {
  avif: 16_384,
  gif: 65_535,
  ico: ICON_SIDE_MAX,
  jpg: 65_500,
  pcx: 65_535,
  tga: 65_535,
  webp: 16_383,
};

const ANIMATED: ReadonlySet<FormatName> = new Set(['gif', 'webp']);

/** Formats whose several pictures are pages. To TIFF they stay together; to PDF so do the frames of animations. */
const PAGED: ReadonlySet<FormatName> = new Set(['tiff']);

/** Dots per inch at which drawings are drawn: as large as on a screen, for paper twice as fine. */
const SCREEN_DENSITY = 72;
const PAPER_DENSITY = 144;

/** How a source is to be opened, decided from its header alone. */
export interface Source {
  readonly bytes: Buffer;
  readonly output: ImageOutput;
  readonly open: SharpOptions;
  /** True when several frames stay together as an animation. */
  readonly animated: boolean;
  /** True when the frames of an animation become pages; they are decoded together, because each builds on those before. */
  readonly framed: boolean;
  /** The pages that go into the result, counted from 0; one where an animation stays together. */
  readonly pages: readonly number[];
  readonly metadata: Metadata;
}

/** What is to become what. */
export interface Inspected {
  /** A format that sharp decodes. */
  readonly input: FormatName;
  readonly output: ImageOutput;
  readonly options: CommonImageOptions;
}

/**
 * Reads the header and refuses what would take too much, before anything is decoded.
 * @throws EngineFailure `damaged`, `page_not_found`, `too_many_frames`, `too_many_pages`, `too_many_pixels`, `result_too_large`.
 */
export async function inspectSource(bytes: Buffer, { input, output, options }: Inspected): Promise<Source> {
  const density = options.density ?? (output === 'pdf' ? PAPER_DENSITY : SCREEN_DENSITY);
  // Warnings are about labels, such as a field of a TIFF that the library does not know; whatever lacks pixels is an error.
  const base: SharpOptions = { failOn: 'error', limitInputPixels: PIXELS_MAX, ...(input === 'svg' ? { density } : {}) };
  const first = await readHeader(bytes, base);
  const count = first.pages ?? 1;
  if (options.page !== undefined && options.page > count) throw new EngineFailure('page_not_found');
  const several = count > 1 && options.page === undefined;
  const animated = several && ANIMATED.has(input) && ANIMATED.has(output);
  const framed = several && ANIMATED.has(input) && output === 'pdf';
  const paged = several && PAGED.has(input) && (PAGED.has(output) || output === 'pdf');
  if (animated && count > FRAMES_MAX) throw new EngineFailure('too_many_frames');
  if ((paged || framed) && count > FRAMES_MAX) throw new EngineFailure('too_many_pages');
  const pages = paged ? Array.from({ length: count }, (_, page) => page) : [(options.page ?? 1) - 1];
  const source: Source = { bytes, output, open: base, animated, framed, pages, metadata: first };
  if (!animated && !framed) return openPage(source, pages[0] ?? 0, options);
  checkSize(first, count, output, options);
  const open: SharpOptions = { ...base, pages: -1 };
  return framed ? source : { ...source, open, metadata: await readHeader(bytes, open) };
}

/**
 * The same source, open at one of its pages.
 * @throws EngineFailure `damaged`, `too_many_pixels`, `result_too_large`.
 */
export async function openPage(source: Source, page: number, options: CommonImageOptions): Promise<Source> {
  const open: SharpOptions = { ...source.open, page, pages: 1 };
  const metadata = page === 0 ? source.metadata : await readHeader(source.bytes, open);
  checkSize(metadata, 1, source.output, options);
  return { ...source, open, metadata };
}

/** Without a size of its own an icon is made as large as it may be, and never larger than its source. */
export function fittingIcon(metadata: Metadata, options: CommonImageOptions): CommonImageOptions {
  if (options.width !== undefined || options.height !== undefined) return options;
  const { width, height } = turnedSize(metadata.autoOrient, options.rotate ?? 0);
  return Math.max(width, height) <= ICON_SIDE_MAX ? options : { ...options, width: ICON_SIDE_MAX, height: ICON_SIDE_MAX, fit: 'inside' };
}

function checkSize(metadata: Metadata, frames: number, output: ImageOutput, options: CommonImageOptions): void {
  if (metadata.width * metadata.height * frames > PIXELS_MAX) throw new EngineFailure('too_many_pixels');
  const upright = frames > 1 ? metadata : metadata.autoOrient;
  const result = fittedSize(turnedSize(upright, options.rotate ?? 0), output === 'ico' ? fittingIcon(metadata, options) : options);
  if (Math.max(result.width, result.height) > (SIDE_MAX[output] ?? PIXELS_MAX)) throw new EngineFailure('result_too_large');
  if (result.width * result.height * frames > PIXELS_MAX) throw new EngineFailure('result_too_large');
}

/** The limit is left out here so that a picture over it can be told from a broken one; headers cost nothing. */
async function readHeader(bytes: Buffer, options: SharpOptions): Promise<Metadata> {
  try {
    return await sharp(bytes, { ...options, limitInputPixels: false }).metadata();
  } catch {
    throw new EngineFailure('damaged');
  }
}
