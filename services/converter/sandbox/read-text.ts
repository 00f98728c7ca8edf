import type { Readable } from 'node:stream';

/** Reads a stream to its end and keeps its first `charactersMax` characters; the rest is dropped, so nothing blocks. */
export async function readText(stream: Readable, charactersMax: number): Promise<string> {
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    if (text.length < charactersMax) text = (text + chunk).slice(0, charactersMax);
  });
  if (stream.closed) return text;
  return new Promise((resolve) => stream.once('close', () => resolve(text)));
}
