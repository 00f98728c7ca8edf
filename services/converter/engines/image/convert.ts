import { readFile, writeFile } from 'node:fs/promises';
import sharp, { type Sharp } from 'sharp';
import { commonImageOptions, type CommonImageOptions } from '../../../../shared/domain/catalogue/options/image.ts';
import { EngineFailure } from '../failure.ts';
import { encode } from './encode.ts';
import { inspectSource, type Source } from './inspect.ts';
import type { ConvertJob } from './job.ts';
import { degreesOf, turnFrames, turnStill } from './turn.ts';

/** Targets that cannot be transparent. */
const OPAQUE = new Set(['jpg']);

/**
 * Converts one image; the process it runs in is thrown away afterwards.
 * @throws EngineFailure when the source cannot be converted; anything else is a fault of this machine.
 */
export async function convertImage(job: ConvertJob): Promise<void> {
  const options = commonImageOptions.parse(job.options);
  // A buffer, because libvips would let an SVG that is opened by its path read its neighbours.
  const bytes = await readFile(job.source);
  const source = await inspectSource(bytes, job, options);
  const result = await render(bytes, source, job, options);
  // Written by us and not by libvips, so that a full disk is not taken for a damaged file.
  await writeFile(job.result, result);
}

async function render(bytes: Buffer, source: Source, job: ConvertJob, options: CommonImageOptions): Promise<Buffer> {
  try {
    const drawn = resize(await turn(bytes, source, options), options);
    const { delay, loop } = source.animated ? source.metadata : {};
    const image = encode(paint(drawn, job, options), job.output, job.options, { delay, loop });
    return await (options.keep_metadata === true ? image.keepMetadata() : image).toBuffer();
  } catch (error) {
    throw new EngineFailure(causeOf(error));
  }
}

/** libvips gives nothing but text; a refused allocation is the only fault in decoding that is not the file's. */
function causeOf(error: unknown): 'out_of_memory' | 'damaged' {
  return /out of memory|unable to allocate/i.test(String(error)) ? 'out_of_memory' : 'damaged';
}

/** Upright by its own mark, then mirrored, then turned: sharp keeps this order whatever order it is called in. */
async function turn(bytes: Buffer, source: Source, options: CommonImageOptions): Promise<Sharp> {
  if (!source.animated) return turnStill(sharp(bytes, source.open).autoOrient(), options);
  const untouched = degreesOf(options) === 0 && options.flip !== true && options.flop !== true;
  return untouched ? sharp(bytes, source.open) : turnFrames(bytes, source, options);
}

function resize(image: Sharp, { width, height, fit = 'inside', enlarge = true, background = '#00000000' }: CommonImageOptions): Sharp {
  if (width === undefined && height === undefined) return image;
  return image.resize({ width, height, fit, background, withoutEnlargement: !enlarge });
}

function paint(image: Sharp, { output }: ConvertJob, { grayscale, background }: CommonImageOptions): Sharp {
  if (grayscale === true) image.grayscale();
  const behind = OPAQUE.has(output) ? (background ?? '#ffffff') : opaqueOnly(background);
  return behind === undefined ? image : image.flatten({ background: behind });
}

/** A colour that is itself transparent cannot be put behind anything; it only fills corners and margins. */
function opaqueOnly(colour: string | undefined): string | undefined {
  return colour === undefined || (colour.length === 9 && !/ff$/i.test(colour)) ? undefined : colour;
}
