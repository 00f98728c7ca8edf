import { has, type HeadTest } from './bytes.ts';

/** How far into the data the first whole frame may begin: recordings of a stream start in the middle of one. */
const JUNK_MAX = 4_096;

/** Bytes of the header of an ID3v2 tag. */
const ID3_HEADER = 10;

/** Tags that may stand one after another before the sound. */
const ID3_TAGS_MAX = 4;

/** kbit/s by version and layer, then by the header's index from 1 to 14. */
const BITRATES = {
  '1.1': [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
  '1.2': [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  '1.3': [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  '2.1': [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
  '2.2': [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
} as const;

/** Hz by the two bits of the version, then by the header's index; version 1 is reserved. */
const SAMPLE_RATES: Readonly<Record<number, readonly number[]>> = { 0: [11_025, 12_000, 8_000], 2: [22_050, 24_000, 16_000], 3: [44_100, 48_000, 32_000] };

/** Length of the frame whose header stands at `at`, in bytes; undefined where there is none. */
type FrameLength = (bytes: Buffer, at: number) => number | undefined;

const lengthOfMpegFrame: FrameLength = (bytes, at) => {
  const [sync = 0, kind = 0, rates = 0] = bytes.subarray(at, at + 3);
  const [versionBits, layer] = [(kind >> 3) & 3, 4 - ((kind >> 1) & 3)];
  const sampleRate = SAMPLE_RATES[versionBits]?.[(rates >> 2) & 3];
  if (sync !== 0xff || kind < 0xe0 || layer === 4 || sampleRate === undefined) return undefined;
  const first = versionBits === 3;
  const kilobits = BITRATES[tableOf(first, layer)][(rates >> 4) - 1];
  if (kilobits === undefined) return undefined;
  const padding = (rates >> 1) & 1;
  if (layer === 1) return (Math.floor((12_000 * kilobits) / sampleRate) + padding) * 4;
  const samplesPerByte = layer === 3 && !first ? 72_000 : 144_000;
  return Math.floor((samplesPerByte * kilobits) / sampleRate) + padding;
};

function tableOf(first: boolean, layer: number): keyof typeof BITRATES {
  if (!first) return layer === 1 ? '2.1' : '2.2';
  if (layer === 1) return '1.1';
  return layer === 2 ? '1.2' : '1.3';
}

const lengthOfAdtsFrame: FrameLength = (bytes, at) => {
  const header = bytes.subarray(at, at + 6);
  const [sync = 0, kind = 0, rate = 0, high = 0, middle = 0, low = 0] = header;
  if (header.length < 6 || sync !== 0xff || (kind & 0xf6) !== 0xf0 || ((rate >> 2) & 15) > 12) return undefined;
  const length = ((high & 3) << 11) | (middle << 3) | (low >> 5);
  return length < 7 ? undefined : length;
};

/** Two frames that follow one another: two bytes of a header alone are in every file. At the end of the data one will do. */
function hasFrames(bytes: Buffer, lengthOf: FrameLength): boolean {
  for (let at = 0; at < Math.min(JUNK_MAX, bytes.length); at += 1) {
    const length = lengthOf(bytes, at);
    if (length === undefined) continue;
    const next = at + length;
    if (next === bytes.length && at === 0) return true;
    if (lengthOf(bytes, next) !== undefined && (bytes[at + 1] ?? 0) === (bytes[next + 1] ?? 1)) return true;
  }
  return false;
}

/** True where the bytes, which come after any tag, are frames of MPEG audio of any layer. */
export const hasMpegFrames: HeadTest = (bytes) => hasFrames(bytes, lengthOfMpegFrame);

/** True where the bytes, which come after any tag, are frames of AAC. */
export const hasAdtsFrames: HeadTest = (bytes) => hasFrames(bytes, lengthOfAdtsFrame);

/** Length of the ID3v2 tag that the bytes begin with, in bytes; 0 where there is none. */
export function id3Length(bytes: Buffer): number {
  if (!has('ID3')(bytes) || bytes.length < ID3_HEADER) return 0;
  const size = bytes.subarray(6, ID3_HEADER).reduce((sum, byte) => sum * 128 + (byte & 127), 0);
  const footer = ((bytes[5] ?? 0) & 0x10) === 0 ? 0 : ID3_HEADER;
  return ID3_HEADER + size + footer;
}

/**
 * A test of what comes after the ID3 tags. Where they are longer than the head, for they hold pictures, the whole file
 * has to be looked into.
 */
export function afterId3(test: HeadTest): HeadTest {
  return (head) => {
    let rest = head;
    for (let tags = 0; tags < ID3_TAGS_MAX; tags += 1) {
      const length = id3Length(rest);
      if (length === 0) break;
      if (length >= rest.length) return true;
      rest = rest.subarray(length);
    }
    return test(skipZeros(rest));
  };
}

/** Some programs leave more room after a tag than the tag says. */
function skipZeros(bytes: Buffer): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0);
  return first === -1 ? bytes : bytes.subarray(first);
}
