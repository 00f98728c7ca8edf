import sharp, { type Metadata, type Sharp } from 'sharp';
import type { FormatName } from '../../../../shared/domain/catalogue/formats.ts';
import type { CommonImageOptions } from '../../../../shared/domain/catalogue/options/image.ts';
import { drawPicture, guard } from './draw.ts';
import type { Source } from './inspect.ts';
import { stripJpeg } from './jpeg-segments.ts';
import type { PdfPicture } from './pdf-picture.ts';
import type { PdfOptions } from './pdf.ts';

/** Formats whose pixels have nearly always lost detail already, so that a little more is not seen. */
const LOSSY: ReadonlySet<FormatName> = new Set(['avif', 'heic', 'jpg', 'webp']);

const JPEG_QUALITY = 90;

/** Pixels a side of the small picture that a JPEG is decoded to, only to see that all of it is there. */
const TRIAL_SIDE = 16;

/**
 * A JPEG that goes into the PDF as it is, with its own colour profile and turned by the page; undefined where something
 * about it is to be changed, or PDF would not show it right.
 */
export async function takeJpeg(source: Source, options: PdfOptions): Promise<PdfPicture | undefined> {
  const { width, height, rotate, flip, flop, grayscale, background, compression = 'auto', keep_metadata: keepsMetadata = false } = options;
  const changed = [width, height, rotate, flip, flop, grayscale, background].some((option) => option !== undefined && option !== false && option !== 0);
  if (changed || compression === 'lossless') return undefined;
  const { metadata } = source;
  const channels = metadata.channels;
  if ((channels !== 1 && channels !== 3) || metadata.depth !== 'uchar' || !['srgb', 'b-w'].includes(metadata.space)) return undefined;
  const icc = metadata.icc === undefined || profileChannels(metadata.icc) !== channels ? undefined : metadata.icc;
  if (metadata.icc !== undefined && icc === undefined) return undefined;
  const jpeg = stripJpeg(source.bytes, keepsMetadata);
  if (jpeg === undefined) return undefined;
  await guard(() => sharp(source.bytes, source.open).resize({ width: TRIAL_SIDE, height: TRIAL_SIDE, fit: 'fill' }).raw().toBuffer());
  return {
    ...metadata.autoOrient,
    density: metadata.density,
    orientation: metadata.orientation ?? 1,
    pixels: { kind: 'jpeg', jpeg, stored: metadata, channels, ...(icc === undefined ? {} : { icc }) },
  };
}

/** Channels of the colours that a profile describes; undefined for what is no profile. */
function profileChannels(icc: Buffer): number | undefined {
  if (icc.length < 132 || icc.toString('latin1', 36, 40) !== 'acsp') return undefined;
  return { 'RGB ': 3, GRAY: 1 }[icc.toString('latin1', 16, 20)];
}

/** Draws a picture for the PDF, upright and in sRGB. */
export function drawForPdf(source: Source, input: FormatName, common: CommonImageOptions, options: PdfOptions): Promise<PdfPicture> {
  const { compression = 'auto', quality = JPEG_QUALITY } = options;
  return guard(async () => {
    const { data, info } = await (await drawPicture(source, common)).raw({ depth: 'uchar' }).toBuffer({ resolveWithObject: true });
    const drawn = (): Sharp => sharp(data, { raw: { width: info.width, height: info.height, channels: info.channels } });
    const transparent = info.channels === 2 || info.channels === 4;
    const colours = transparent ? drawn().removeAlpha() : drawn();
    const asJpeg = compression === 'jpeg' || (compression === 'auto' && LOSSY.has(input));
    const encoded = await (asJpeg ? colours.jpeg({ quality }) : colours.png({ adaptiveFiltering: true })).toBuffer({ resolveWithObject: true });
    const mask = transparent ? await drawn().extractChannel(info.channels === 2 ? 1 : 3).png().toBuffer() : undefined;
    return {
      width: info.width,
      height: info.height,
      density: densityOf(source.metadata, info.width),
      orientation: 1,
      pixels: asJpeg ? { kind: 'jpeg', jpeg: encoded.data, stored: info, channels: encoded.info.channels === 1 ? 1 : 3 } : { kind: 'png', png: encoded.data },
      ...(mask === undefined ? {} : { mask }),
    };
  });
}

/** A picture drawn at another size has no density of its own any more. */
function densityOf({ autoOrient, density }: Metadata, width: number): number | undefined {
  return autoOrient.width === width ? density : undefined;
}
