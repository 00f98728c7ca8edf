import { imageSize } from 'image-size';
import sharp from 'sharp';

/** What a picture is, said by a program that shares nothing with the one that made it. */
export function readPicture(bytes: Uint8Array): { readonly format: string | undefined; readonly width: number; readonly height: number } {
  const { type, width, height } = imageSize(bytes);
  return { format: type, width, height };
}

/** A picture of pure noise as jpg: small, and slow to convert to avif, so that a test can act in the middle. */
export function makeNoise(width: number, height: number): Promise<Buffer> {
  const noise = { type: 'gaussian' as const, mean: 128, sigma: 40 };
  return sharp({ create: { width, height, channels: 3, background: '#888888', noise } }).jpeg({ quality: 90 }).toBuffer();
}

/** A tiny picture that is converted within moments. */
export function makeDot(): Promise<Buffer> {
  return sharp({ create: { width: 8, height: 8, channels: 3, background: '#336699' } }).jpeg().toBuffer();
}
