import { all, any, has, not, type HeadTest } from './bytes.ts';
import { isText } from './text.ts';

/** TIFF and BigTIFF in both byte orders, but not Canon's camera raw, which is a TIFF that no TIFF reader can show. */
export const isTiff: HeadTest = all(any(has('II*\0'), has('MM\0*'), has('II+\0\b\0\0\0'), has('MM\0+\0\b\0\0')), not(has('CR', 8)));

/** Sizes of the headers that Windows and OS/2 bitmaps may have, in bytes. */
const BITMAP_HEADERS: ReadonlySet<number> = new Set([12, 16, 40, 52, 56, 64, 108, 124]);

/** A bitmap: two letters begin many texts, too, so the size of the second header counts. */
export const isBmp: HeadTest = (head) => has('BM')(head) && head.length >= 18 && BITMAP_HEADERS.has(head.readUInt32LE(14));

/** An icon file with at least one picture that lies behind the list of pictures. */
export const isIco: HeadTest = (head) => {
  if (!has('\0\0\x01\0')(head) || head.length < 22) return false;
  const pictures = head.readUInt16LE(4);
  return pictures > 0 && head.readUInt32LE(18) >= 6 + 16 * pictures;
};

/** Kinds of pixels in a TGA and the bits they may have: with a palette, in colours, in grey; from 9 on compressed. */
const TGA_BITS: Readonly<Record<number, readonly number[]>> = { 1: [8, 16], 2: [15, 16, 24, 32], 3: [8, 16], 9: [8, 16], 10: [15, 16, 24, 32], 11: [8, 16] };

/** TGA has no mark of its own at its start; its header allows few values, and they have to agree with one another. */
export const isTga: HeadTest = (head) => {
  const [, palette = 2, kind = 0] = head;
  if (head.length < 18 || palette > 1) return false;
  if ((kind === 1 || kind === 9) && palette === 0) return false;
  const [width, height, bits, flags] = [head.readUInt16LE(12), head.readUInt16LE(14), head[16] ?? 0, head[17] ?? 0];
  const paletteBits = head[7] ?? 0;
  if (palette === 1 && ![15, 16, 24, 32].includes(paletteBits)) return false;
  return width > 0 && height > 0 && (TGA_BITS[kind]?.includes(bits) ?? false) && (flags & 0xc0) === 0;
};

/** PCX by its few fixed bytes: version, compression, bits, and a right corner that is no further left than the left one. */
export const isPcx: HeadTest = (head) => {
  const [mark, version = 255, compression = 255, bits = 0] = head;
  if (mark !== 0x0a || head.length < 128 || ![0, 2, 3, 4, 5].includes(version) || compression > 1 || ![1, 2, 4, 8].includes(bits)) return false;
  return head.readUInt16LE(8) >= head.readUInt16LE(4) && head.readUInt16LE(10) >= head.readUInt16LE(6) && head[64] === 0;
};

/** Portable bitmaps, in text or bytes, with their size after the mark and any comments. */
export const isPnm: HeadTest = (head) => {
  const text = head.toString('latin1');
  return /^P[1-6](?:\s|#[^\n]{0,1000}\n){1,100}\d{1,9}\s/.test(text) || /^P7\n(?:#[^\n]{0,1000}\n|[A-Z]+(?: [^\n]{0,100})?\n){1,20}/.test(text);
};

/** An X pixmap is a piece of a C program. */
export const isXpm: HeadTest = all(isText, (head) => {
  const start = head.toString('latin1', 0, 4_096);
  return /^\s*\/\*\s*XPM\s*\*\//.test(start) || /^\s*(?:\/\*[^]{0,2000}?\*\/\s*)?(?:static\s+)?(?:const\s+)?char\s*\*\s*(?:const\s+)?\w{1,200}\s*\[\s*\]\s*=/.test(start);
});
