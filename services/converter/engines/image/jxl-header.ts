import type { Size } from './size.ts';

/** Bits of a side by the two bits before it. */
const SIDE_BITS = [9, 13, 18, 30] as const;

/** Width to height by the three bits between them; 0 stands for a width of its own. */
const RATIOS = [undefined, [1, 1], [12, 10], [4, 3], [3, 2], [16, 9], [5, 4], [2, 1]] as const;

/** Reads the size of a JPEG XL picture, bare or in a container whose picture begins within `head`. */
export function readJxlSize(head: Buffer): Size | undefined {
  const start = head.readUInt16BE(0) === 0xff0a ? 2 : findCodestream(head);
  if (start === undefined) return undefined;
  const bits = bitReader(head.subarray(start, start + 16));
  const small = bits(1) === 1;
  const side = (): number => (small ? (bits(5) + 1) * 8 : bits(SIDE_BITS[bits(2)] ?? 9) + 1);
  const height = side();
  const ratio = RATIOS[bits(3)];
  return { width: ratio === undefined ? side() : Math.floor((height * ratio[0]) / ratio[1]), height };
}

/** Where the picture begins behind the mark of a codestream box, whole or in parts. */
function findCodestream(head: Buffer): number | undefined {
  const found = ['jxlc\xff\x0a', 'jxlp\0\0\0\0\xff\x0a', 'jxlp\x80\0\0\0\xff\x0a'].map((mark) => ({ at: head.indexOf(mark, 0, 'latin1'), length: mark.length })).find(({ at }) => at >= 0);
  return found === undefined ? undefined : found.at + found.length;
}

/** Numbers of so many bits out of bytes, lowest bit first. */
function bitReader(bytes: Buffer): (count: number) => number {
  let position = 0;
  return (count) => {
    let value = 0;
    for (let bit = 0; bit < count; bit += 1, position += 1) value += (((bytes[position >> 3] ?? 0) >> (position & 7)) & 1) * 2 ** bit;
    return value;
  };
}
