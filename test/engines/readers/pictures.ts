import { imageSize } from 'image-size';
import { probe } from './media.ts';

/** Width and height in pixels and the number of frames, as programs see them that did not draw the picture. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly frames: number;
}

/** Formats whose header nobody but ffmpeg reads. */
const BY_FFPROBE = new Set(['pcx', 'qoi', 'xpm', 'ppm', 'tga', 'jp2', 'bmp']);

/** Looks at a picture; throws when it is none. */
export function pictureOf(path: string, bytes: Buffer, format: string): Picture {
  if (!BY_FFPROBE.has(format)) {
    const { width, height } = imageSize(bytes);
    return { width, height, frames: framesOf(bytes, format) };
  }
  const video = probe(path).video ?? { width: 0, height: 0 };
  return { width: video.width, height: video.height, frames: 1 };
}

/** Frames of an animation by its own structure: image blocks of GIF, ANMF chunks of WebP. */
function framesOf(bytes: Buffer, format: string): number {
  if (format === 'gif') return countGifFrames(bytes);
  if (format === 'webp') return Math.max(1, bytes.toString('latin1').split('ANMF').length - 1);
  return 1;
}

/** Bytes of the table of colours that flags announce. */
function colours(flags: number): number {
  return (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1);
}

function countGifFrames(bytes: Buffer): number {
  let at = 13 + colours(bytes[10] ?? 0);
  let frames = 0;
  const skipBlocks = (): void => {
    while ((bytes[at] ?? 0) !== 0) at += (bytes[at] ?? 0) + 1;
    at += 1;
  };
  while (at < bytes.length && bytes[at] !== 0x3b) {
    if (bytes[at] === 0x21) at += 2;
    else {
      frames += 1;
      at += 10 + colours(bytes[at + 9] ?? 0) + 1;
    }
    skipBlocks();
  }
  return frames;
}
