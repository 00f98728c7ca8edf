import { createHash } from 'node:crypto';
import { open, rm, type FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { Defect } from '../../errors/errors.ts';
import { ObjectDamagedError } from '../errors.ts';
import type { ObjectRecord } from '../object-store.ts';
import type { ByteRange } from '../range.ts';
import { READ_CHUNK_BYTES } from './copy-body.ts';
import { readTrailer } from './trailer.ts';

/** A stored file and what its end says of it. It stays readable when it is removed meanwhile. */
export type OpenFile = { readonly file: FileHandle; readonly record: ObjectRecord };

/** Opens a stored file; the caller closes it. Throws the failed system call, or `ObjectDamagedError`. */
export async function readDescribed(path: string): Promise<OpenFile> {
  const file = await open(path, 'r');
  try {
    return { file, record: await readTrailer(file) };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/**
 * Content of an open file, or a range of it, never the description behind it. The stream closes the file at its end
 * or when it is destroyed. Throws `Defect` when the range lies outside.
 */
export function readContent({ file, record }: OpenFile, range?: ByteRange): Readable {
  if (!range && record.size_bytes === 0) return emptyStream(file);
  const { start, end } = range ?? { start: 0, end: record.size_bytes - 1 };
  if (start < 0 || start > end || end >= record.size_bytes) throw new Defect('a range of an object lies outside of it');
  return file.createReadStream({ start, end, highWaterMark: READ_CHUNK_BYTES });
}

/** Copies the content into a file that must not exist yet. Throws `ObjectDamagedError` when the bytes are not those that were stored. */
export async function fillNewFile(path: string, { file, record }: OpenFile): Promise<void> {
  const target = await open(path, 'wx');
  try {
    const sha256 = createHash('sha256');
    for await (const chunk of contentBytes(file, record.size_bytes)) {
      sha256.update(chunk);
      await target.writeFile(chunk);
    }
    if (sha256.digest('hex') !== record.sha256) throw new ObjectDamagedError('a stored file is damaged: its content does not fit its hash');
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await target.close();
  }
}

/** Content of an open file, one chunk in memory at a time. Stops early when the file is shorter than said. */
export async function* contentBytes(file: FileHandle, sizeBytes: number): AsyncGenerator<Uint8Array> {
  for (let position = 0; position < sizeBytes; ) {
    const length = Math.min(READ_CHUNK_BYTES, sizeBytes - position);
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(length), position });
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** A read stream of a file cannot be empty: its end is included. */
function emptyStream(file: FileHandle): Readable {
  return new Readable({
    read() {
      this.push(null);
    },
    destroy(error, done) {
      file.close().then(() => done(error), done);
    },
  });
}
