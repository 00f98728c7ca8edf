import sharp, { type Sharp } from 'sharp';
import type { CommonImageOptions } from '../../../../shared/domain/options-image.ts';
import type { Source } from './inspect.ts';

const CHANNELS = 4;

/**
 * Turns each frame of an animation by itself. libvips holds an animation as one tall strip: turning or mirroring that
 * strip would play the frames backwards, and sharp refuses every angle but 180.
 */
export async function turnFrames(bytes: Buffer, { open }: Source, options: CommonImageOptions): Promise<Sharp> {
  const { data, info } = await sharp(bytes, open).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  const height = info.pageHeight ?? info.height;
  const frameBytes = info.width * height * CHANNELS;
  const frames: Buffer[] = [];
  for (let start = 0; start < data.length; start += frameBytes) {
    const frame = sharp(data.subarray(start, start + frameBytes), { raw: { width: info.width, height, channels: CHANNELS } });
    if (options.flip === true) frame.flip();
    frame.rotate(options.rotate ?? 0, { background: options.background ?? '#00000000' });
    frames.push(await frame.png({ compressionLevel: 0 }).toBuffer());
  }
  return sharp(frames, { join: { animated: true }, limitInputPixels: open.limitInputPixels ?? true });
}
