import type { FormatName } from '../../../../shared/domain/catalogue/formats.ts';
import { readJxlSize } from './jxl-header.ts';
import type { Size } from './size.ts';

/** Reads the size of a picture out of the first bytes of its file; undefined where they do not hold one. */
type Reader = (head: Buffer) => Size | undefined;

/** A number is read out of bytes that may end early; then there is no size to be read. */
function sizeFrom(width: number, height: number): Size | undefined {
  return Number.isSafeInteger(width) && Number.isSafeInteger(height) && width > 0 && height > 0 ? { width, height } : undefined;
}

const READERS: Partial<Readonly<Record<FormatName, Reader>>> = {
  // The oldest headers have two bytes for each side; a negative height means that the first row comes first.
  bmp: (head) => (head.readUInt32LE(14) < 16 ? sizeFrom(head.readUInt16LE(18), head.readUInt16LE(20)) : sizeFrom(head.readInt32LE(18), Math.abs(head.readInt32LE(22)))),
  jp2: readJp2Size,
  jxl: readJxlSize,
  pcx: (head) => sizeFrom(head.readUInt16LE(8) - head.readUInt16LE(4) + 1, head.readUInt16LE(10) - head.readUInt16LE(6) + 1),
  ppm: readPnmSize,
  psd: (head) => sizeFrom(head.readUInt32BE(18), head.readUInt32BE(14)),
  qoi: (head) => sizeFrom(head.readUInt32BE(4), head.readUInt32BE(8)),
  tga: (head) => sizeFrom(head.readUInt16LE(12), head.readUInt16LE(14)),
  xpm: (head) => {
    const [, width, height] = /"\s*(\d{1,9})\s+(\d{1,9})\s+\d/.exec(head.toString('latin1')) ?? [];
    return sizeFrom(Number(width), Number(height));
  },
};

/** The size that the header of a format that ffmpeg unpacks claims; undefined where its first bytes do not tell. */
export function readClaimedSize(format: FormatName, head: Buffer): Size | undefined {
  try {
    return READERS[format]?.(head);
  } catch (error) {
    // The head ends before the fields.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** A bare codestream begins with its size; in a file, the image header box comes first of the header boxes. */
function readJp2Size(head: Buffer): Size | undefined {
  if (head.readUInt16BE(0) === 0xff4f) return sizeFrom(head.readUInt32BE(8) - head.readUInt32BE(16), head.readUInt32BE(12) - head.readUInt32BE(20));
  const box = head.indexOf('ihdr', 0, 'latin1');
  return box < 0 ? undefined : sizeFrom(head.readUInt32BE(box + 8), head.readUInt32BE(box + 4));
}

function readPnmSize(head: Buffer): Size | undefined {
  const text = head.toString('latin1').replaceAll(/#[^\n]*\n/g, ' ');
  if (text.startsWith('P7')) return sizeFrom(Number(/\bWIDTH\s+(\d{1,9})\b/.exec(text)?.[1]), Number(/\bHEIGHT\s+(\d{1,9})\b/.exec(text)?.[1]));
  const [, width, height] = /^P[1-6]\s+(\d{1,9})\s+(\d{1,9})\s/.exec(text) ?? [];
  return sizeFrom(Number(width), Number(height));
}
