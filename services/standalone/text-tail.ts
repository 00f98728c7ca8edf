import type { Readable } from 'node:stream';

/** Enough of what a program said last to explain why it ended. */
const TAIL_CHARACTERS = 4_096;

/** Keeps the end of what a stream says, and no more, so that a talkative server cannot fill our memory. */
export function keepTail(stream: Readable | null): () => string {
  let tail = '';
  stream?.setEncoding('utf8').on('data', (chunk: string) => {
    tail = (tail + chunk).slice(-TAIL_CHARACTERS);
  });
  return () => tail.trim();
}
