import sharp, { type Metadata, type SharpOptions } from 'sharp';
import type { CommonImageOptions } from '../../../../shared/domain/catalogue/options/image.ts';
import { EngineFailure } from '../failure.ts';
import type { ConvertJob, ImageOutput } from './job.ts';
import { fittedSize, turnedSize } from './size.ts';

/** Pixels of all frames together that are decoded or encoded: a 100-megapixel picture takes 0.4 GB of memory. */
const PIXELS_MAX = 100_000_000;

/** Frames of an animation: each costs time of its own, however small it is. */
const FRAMES_MAX = 500;

/** Longest side that a format can store, pixels. */
const SIDE_MAX: Readonly<Record<ImageOutput, number>> = {
  avif: 16_384,
  gif: 65_535,
  jpg: 65_500,
  png: PIXELS_MAX,
  tiff: PIXELS_MAX,
  webp: 16_383,
};

const ANIMATED = new Set(['gif', 'webp']);

/** How a source is to be opened, decided from its header alone. */
export interface Source {
  readonly open: SharpOptions;
  /** True when several frames stay together as an animation. */
  readonly animated: boolean;
  readonly metadata: Metadata;
}

/**
 * Reads the header and refuses what would take too much, before anything is decoded.
 * @throws EngineFailure `damaged`, `page_not_found`, `too_many_frames`, `too_many_pixels`, `result_too_large`.
 */
export async function inspectSource(bytes: Buffer, job: ConvertJob, options: CommonImageOptions): Promise<Source> {
  const base: SharpOptions = { failOn: 'warning', limitInputPixels: PIXELS_MAX, ...(job.input === 'svg' ? { density: options.density ?? 72 } : {}) };
  const first = await readHeader(bytes, base);
  const pages = first.pages ?? 1;
  if (options.page !== undefined && options.page > pages) throw new EngineFailure('page_not_found');
  const animated = pages > 1 && options.page === undefined && ANIMATED.has(job.input) && ANIMATED.has(job.output);
  const frames = animated ? pages : 1;
  if (frames > FRAMES_MAX) throw new EngineFailure('too_many_frames');
  const open: SharpOptions = { ...base, ...(animated ? { pages: -1 } : { page: (options.page ?? 1) - 1, pages: 1 }) };
  const metadata = open.page === undefined || open.page === 0 ? first : await readHeader(bytes, open);
  if (metadata.width * metadata.height * frames > PIXELS_MAX) throw new EngineFailure('too_many_pixels');
  const upright = animated ? metadata : metadata.autoOrient;
  const result = fittedSize(turnedSize(upright, options.rotate ?? 0), options);
  if (Math.max(result.width, result.height) > SIDE_MAX[job.output]) throw new EngineFailure('result_too_large');
  if (result.width * result.height * frames > PIXELS_MAX) throw new EngineFailure('result_too_large');
  return { open, animated, metadata: animated ? await readHeader(bytes, open) : metadata };
}

/** The limit is left out here so that a picture over it can be told from a broken one; headers cost nothing. */
async function readHeader(bytes: Buffer, options: SharpOptions): Promise<Metadata> {
  try {
    return await sharp(bytes, { ...options, limitInputPixels: false }).metadata();
  } catch {
    throw new EngineFailure('damaged');
  }
}
