import sharp, { type Sharp, type SharpOptions } from 'sharp';
import type { CommonImageOptions } from '../../../../shared/domain/catalogue/options/image.ts';

const CHANNELS = 4;

const TRANSPARENT = '#00000000';

/** Degrees clockwise from 0 to 359. */
export function degreesOf({ rotate = 0 }: CommonImageOptions): number {
  return (rotate + 360) % 360;
}

/** Mirrors a picture as asked for, then turns it. */
export function turnStill(image: Sharp, options: CommonImageOptions): Sharp {
  if (options.flip === true) image.flip();
  if (options.flop === true) image.flop();
  const degrees = degreesOf(options);
  return degrees === 0 ? image : image.rotate(degrees, { background: options.background ?? TRANSPARENT });
}

/** Decodes an animation, which libvips holds as one tall strip, and takes its frames apart. */
export async function* splitFrames(bytes: Buffer, open: SharpOptions): AsyncGenerator<Sharp> {
  const { data, info } = await sharp(bytes, open).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  const height = info.pageHeight ?? info.height;
  const frameBytes = info.width * height * CHANNELS;
  for (let start = 0; start < data.length; start += frameBytes) {
    yield sharp(data.subarray(start, start + frameBytes), { raw: { width: info.width, height, channels: CHANNELS } });
  }
}

/**
 * Mirrors and turns each frame of an animation by itself. Turning or mirroring the strip would play the frames
 * backwards, and sharp refuses every angle but 180.
 */
export async function turnFrames(bytes: Buffer, open: SharpOptions, options: CommonImageOptions): Promise<Sharp> {
  const frames: Buffer[] = [];
  for await (const frame of splitFrames(bytes, open)) frames.push(await turnStill(frame, options).png({ compressionLevel: 0 }).toBuffer());
  return sharp(frames, { join: { animated: true }, limitInputPixels: open.limitInputPixels ?? true });
}
