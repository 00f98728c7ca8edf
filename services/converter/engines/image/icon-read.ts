import sharp from 'sharp';
import { EngineFailure } from '../failure.ts';
import { PIXELS_MAX } from './limits.ts';

/** Bytes of an icon's head and of each line of its table. */
const HEAD_BYTES = 6;
const LINE_BYTES = 16;

/** Bytes of the header of a bitmap inside an icon; it has no file header. */
const BITMAP_HEAD_BYTES = 40;

const PNG_MARK = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

/**
 * The largest picture of an icon, as PNG. Bitmaps are read here, because ffmpeg leaves out the mask that makes their
 * corners transparent.
 * @throws EngineFailure `damaged`, `too_many_pixels`, `unsupported_feature`.
 */
export async function readIcon(bytes: Buffer): Promise<Buffer> {
  try {
    const picture = largestPicture(bytes);
    if (picture.subarray(0, PNG_MARK.length).equals(PNG_MARK)) return picture;
    const { width, height, data } = readBitmap(picture);
    return await sharp(data, { raw: { width, height, channels: 4 } }).png({ compressionLevel: 0 }).toBuffer();
  } catch (error) {
    // A field lies beyond the end.
    if (error instanceof RangeError) throw new EngineFailure('damaged');
    throw error;
  }
}

/** By its sides in the table, then by the bits of its pixels; a side of 0 stands for 256. */
function largestPicture(bytes: Buffer): Buffer {
  const lines = Array.from({ length: bytes.readUInt16LE(4) }, (_, index) => {
    const at = HEAD_BYTES + LINE_BYTES * index;
    const area = (bytes.readUInt8(at) || 256) * (bytes.readUInt8(at + 1) || 256);
    return { area, bits: bytes.readUInt16LE(at + 6), size: bytes.readUInt32LE(at + 8), offset: bytes.readUInt32LE(at + 12) };
  });
  const [largest] = lines.toSorted((a, b) => b.area - a.area || b.bits - a.bits);
  if (largest === undefined || largest.offset + largest.size > bytes.length) throw new EngineFailure('damaged');
  return bytes.subarray(largest.offset, largest.offset + largest.size);
}

interface Bitmap {
  readonly width: number;
  readonly height: number;
  /** RGBA, first row first. */
  readonly data: Buffer;
}

/** Its height counts the picture and the mask below it; both begin with their last row. */
function readBitmap(picture: Buffer): Bitmap {
  const [headBytes, width, height] = [picture.readUInt32LE(0), picture.readInt32LE(4), picture.readInt32LE(8) / 2];
  const bits = picture.readUInt16LE(14);
  if (width < 1 || height < 1 || !Number.isInteger(height) || headBytes < BITMAP_HEAD_BYTES) throw new EngineFailure('damaged');
  if (width * height > PIXELS_MAX) throw new EngineFailure('too_many_pixels');
  if (picture.readUInt32LE(16) !== 0 || ![1, 4, 8, 24, 32].includes(bits)) throw new EngineFailure('unsupported_feature');
  const palette = headBytes;
  const colours = bits > 8 ? 0 : picture.readUInt32LE(32) || 2 ** bits;
  const pixels = palette + 4 * colours;
  const mask = pixels + rowBytes(width, bits) * height;
  // Only the mask may be missing, and then only where the pixels have transparency of their own.
  if (mask + (bits === 32 ? 0 : rowBytes(width, 1) * height) > picture.length) throw new EngineFailure('damaged');
  const data = Buffer.alloc(width * height * 4);
  for (let row = 0; row < height; row += 1) {
    const from = pixels + rowBytes(width, bits) * (height - 1 - row);
    for (let column = 0; column < width; column += 1) {
      const at = bits > 8 ? from + (column * bits) / 8 : palette + 4 * indexAt(picture, from, column, bits);
      const to = (row * width + column) * 4;
      data.writeUInt32BE(((picture.readUInt8(at + 2) << 24) | (picture.readUInt8(at + 1) << 16) | (picture.readUInt8(at) << 8) | (bits === 32 ? picture.readUInt8(at + 3) : 0)) >>> 0, to);
    }
  }
  if (bits !== 32 || isClear(data)) applyMask(data, picture, mask, width, height);
  return { width, height, data };
}

/** Rows are filled up to whole groups of four bytes. */
function rowBytes(width: number, bits: number): number {
  return Math.ceil((width * bits) / 32) * 4;
}

function indexAt(picture: Buffer, row: number, column: number, bits: number): number {
  const perByte = 8 / bits;
  const byte = picture.readUInt8(row + Math.floor(column / perByte));
  return (byte >> (bits * (perByte - 1 - (column % perByte)))) & (2 ** bits - 1);
}

/** Old programs wrote 32 bits a pixel and left the transparency empty. */
function isClear(data: Buffer): boolean {
  for (let at = 3; at < data.length; at += 4) if (data[at] !== 0) return false;
  return true;
}

function applyMask(data: Buffer, picture: Buffer, mask: number, width: number, height: number): void {
  const missing = mask + rowBytes(width, 1) * height > picture.length;
  for (let row = 0; row < height; row += 1) {
    const from = mask + rowBytes(width, 1) * (height - 1 - row);
    for (let column = 0; column < width; column += 1) {
      const hidden = !missing && indexAt(picture, from, column, 1) === 1;
      data.writeUInt8(hidden ? 0 : 255, (row * width + column) * 4 + 3);
    }
  }
}
