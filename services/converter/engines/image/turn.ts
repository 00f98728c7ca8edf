import sharp, { type Sharp } from 'sharp';
import type { CommonImageOptions } from '../../../../shared/domain/catalogue/options/image.ts';
import type { Source } from './inspect.ts';

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

/**
 * Mirrors and turns each frame of an animation by itself. libvips holds an animation as one tall strip: turning or mirroring that
 * strip would play the frames backwards, and sharp refuses every angle but 180.
 */
export async function turnFrames(bytes: Buffer, { open }: Source, options: CommonImageOptions): Promise<Sharp> {
  const { data, info } = await sharp(bytes, open).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  const height = info.pageHeight ?? info.height;
  const frameBytes = info.width * height * CHANNELS;
  const frames: Buffer[] = [];
  for (let start = 0; start < data.length; start += frameBytes) {
    const frame = sharp(data.subarray(start, start + frameBytes), { raw: { width: info.width, height, channels: CHANNELS } });
    frames.push(await turnStill(frame, options).png({ compressionLevel: 0 }).toBuffer());
  }
  return sharp(frames, { join: { animated: true }, limitInputPixels: open.limitInputPixels ?? true });
}
