import sharp, { type Sharp } from 'sharp';
import type { CommonImageOptions } from '../../../../shared/domain/catalogue/options/image.ts';
import { EngineFailure } from '../failure.ts';
import { fittingIcon, type Source } from './inspect.ts';
import type { ImageOutput } from './outputs.ts';
import { degreesOf, turnFrames, turnStill } from './turn.ts';

/** Targets that cannot be transparent, or that many programs do not show as transparent. */
const OPAQUE: ReadonlySet<ImageOutput> = new Set(['bmp', 'jpg', 'pcx', 'ppm']);

/** Lets libvips work; what it refuses is the fault of the source. */
export async function guard<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof EngineFailure ? error : new EngineFailure(causeOf(error));
  }
}

/** libvips gives nothing but text; a refused allocation is the only fault in decoding that is not the file's. */
function causeOf(error: unknown): 'out_of_memory' | 'damaged' {
  return /out of memory|unable to allocate/i.test(String(error)) ? 'out_of_memory' : 'damaged';
}

/** What is to be drawn, upright and of the size and colours asked for, in sRGB; nothing is decoded yet. */
export async function drawPicture(source: Source, options: CommonImageOptions): Promise<Sharp> {
  const drawn = resize(await turn(source, options), source.output === 'ico' ? fittingIcon(source.metadata, options) : options);
  return paint(drawn, source.output, options);
}

/** Upright by its own mark, then mirrored, then turned: sharp keeps this order whatever order it is called in. */
async function turn(source: Source, options: CommonImageOptions): Promise<Sharp> {
  if (!source.animated) return turnStill(sharp(source.bytes, source.open).autoOrient(), options);
  const untouched = degreesOf(options) === 0 && options.flip !== true && options.flop !== true;
  return untouched ? sharp(source.bytes, source.open) : turnFrames(source.bytes, source.open, options);
}

function resize(image: Sharp, { width, height, fit = 'inside', enlarge = true, background = '#00000000' }: CommonImageOptions): Sharp {
  if (width === undefined && height === undefined) return image;
  return image.resize({ width, height, fit, background, withoutEnlargement: !enlarge });
}

function paint(image: Sharp, output: ImageOutput, { grayscale, background }: CommonImageOptions): Sharp {
  if (grayscale === true) image.grayscale();
  const behind = OPAQUE.has(output) ? (background ?? '#ffffff') : opaqueOnly(background);
  return behind === undefined ? image : image.flatten({ background: behind });
}

/** A colour that is itself transparent cannot be put behind anything; it only fills corners and margins. */
function opaqueOnly(colour: string | undefined): string | undefined {
  return colour === undefined || (colour.length === 9 && !/ff$/i.test(colour)) ? undefined : colour;
}
