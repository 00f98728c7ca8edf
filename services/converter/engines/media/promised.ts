import { stat } from 'node:fs/promises';
import { readHead } from '../head.ts';

/** Part of what a file promises that must be there; a recording that lost its last moments is still one. */
export const PROMISED_PART_MIN = 0.9;

/** Seconds by which every length may be off: times are rounded, and encoders add silence. */
export const SECONDS_SLACK = 0.5;

/** Sizes that writers of a stream put in because they cannot go back to correct them. */
const UNKNOWN_SIZE_MIN = 0xffff_0000;

const RIFF_HEAD_BYTES = 8;

/** True when a RIFF file (wav, avi) says at its start that it is much longer than it is: ffmpeg does not tell. */
export async function isCutRiff(path: string): Promise<boolean> {
  const head = await readHead(path, RIFF_HEAD_BYTES);
  if (head.length < RIFF_HEAD_BYTES || head.toString('latin1', 0, 4) !== 'RIFF') return false;
  const promised = head.readUInt32LE(4);
  const { size } = await stat(path);
  return promised < UNKNOWN_SIZE_MIN && promised * PROMISED_PART_MIN > size;
}

/** True when so much less came out than was promised that the file must have been cut off. */
export function isShort(seconds: number, promised: number): boolean {
  return seconds < promised * PROMISED_PART_MIN - SECONDS_SLACK;
}
