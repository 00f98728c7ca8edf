import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { CodedError, Defect } from '../../errors/errors.ts';
import { IncompleteBodyError, ObjectTooLargeError } from '../errors.ts';
import type { ObjectRecord, WriteLimits } from '../object-store.ts';

/** Bytes read from a local file at a time: few system calls, little memory. */
export const READ_CHUNK_BYTES = 256 * 1024;

/**
 * Appends a body to an open file, counting and hashing as the bytes pass, one chunk in memory at a time.
 * Throws `ObjectTooLargeError` as soon as the limit is passed, `IncompleteBodyError` on another length than expected.
 */
export async function copyBody(body: AsyncIterable<Uint8Array>, target: FileHandle, limits: WriteLimits): Promise<ObjectRecord> {
  const md5 = createHash('md5');
  const sha256 = createHash('sha256');
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > limits.maxBytes) throw new ObjectTooLargeError(limits.maxBytes);
    md5.update(chunk);
    sha256.update(chunk);
    // On an open file this appends, and goes on until the whole chunk is written.
    await target.writeFile(chunk);
  }
  if (limits.expectedBytes !== undefined && size !== limits.expectedBytes) throw new IncompleteBodyError();
  return { size_bytes: size, etag: md5.digest('hex'), sha256: sha256.digest('hex') };
}

/**
 * Bytes that come from elsewhere. Throws `IncompleteBodyError` when they break off. The stream stays open when reading
 * stops early: destroying a request would cut the connection before an answer.
 */
export async function* receivedBytes(source: Readable): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of source.iterator({ destroyOnReturn: false })) yield asBytes(chunk);
  } catch (error) {
    throw error instanceof CodedError ? error : new IncompleteBodyError({ cause: error });
  }
}

/** Bytes of a local file. */
export async function* localBytes(path: string): AsyncGenerator<Uint8Array> {
  for await (const chunk of createReadStream(path, { highWaterMark: READ_CHUNK_BYTES })) yield asBytes(chunk);
}

function asBytes(chunk: unknown): Uint8Array {
  if (!(chunk instanceof Uint8Array)) throw new Defect('a body to be stored is not a stream of bytes');
  return chunk;
}
