import sharp from 'sharp';
import { icoOptions } from '../../../../shared/domain/catalogue/options/image-containers.ts';

/** The largest side that an icon's table can name, pixels. */
export const ICON_SIDE_MAX = 256;

/** Bytes of an icon's head and of each line of its table. */
const HEAD_BYTES = 6;
const LINE_BYTES = 16;

/** Bits of a pixel with transparency. */
const PIXEL_BITS = 32;

/**
 * Makes an icon out of a drawn picture in PNG: its pictures are PNG, too, which everything since 2007 reads. Without
 * `sizes` the picture goes in as it is; it must not be larger than `ICON_SIDE_MAX`.
 */
export async function writeIcon(picture: Buffer, options: unknown): Promise<Buffer> {
  const { sizes } = icoOptions.parse(options);
  const pictures = sizes === undefined ? [picture] : await Promise.all(sizes.toSorted((a, b) => a - b).map((side) => fitInto(picture, side)));
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt16LE(1, 2);
  head.writeUInt16LE(pictures.length, 4);
  const lines: Buffer[] = [];
  let offset = HEAD_BYTES + LINE_BYTES * pictures.length;
  for (const each of pictures) {
    const { width, height } = await sharp(each).metadata();
    const line = Buffer.alloc(LINE_BYTES);
    // 256 is written as 0.
    line.writeUInt8(width % ICON_SIDE_MAX, 0);
    line.writeUInt8(height % ICON_SIDE_MAX, 1);
    line.writeUInt16LE(1, 4);
    line.writeUInt16LE(PIXEL_BITS, 6);
    line.writeUInt32LE(each.length, 8);
    line.writeUInt32LE(offset, 12);
    lines.push(line);
    offset += each.length;
  }
  return Buffer.concat([head, ...lines, ...pictures]);
}

function fitInto(picture: Buffer, side: number): Promise<Buffer> {
  return sharp(picture).resize({ width: side, height: side, fit: 'contain', background: '#00000000' }).png().toBuffer();
}
