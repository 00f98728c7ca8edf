import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { CodedError, TransientError } from '../../errors/errors.ts';
import { contentBytes } from '../disk/content.ts';
import { copyBody, READ_CHUNK_BYTES, receivedBytes } from '../disk/copy-body.ts';
import { ObjectTooLargeError } from '../errors.ts';
import type { ObjectHead, ObjectRecord, WriteLimits } from '../object-store.ts';
import { LONG_REQUEST_MS_MAX, type Bucket } from './client.ts';
import { bareTag } from './content.ts';
import { translateS3Error } from './s3-error.ts';

/** Largest object of one PUT: 5 GiB, as S3 has it. Larger files come as uploads in parts. */
const PUT_BYTES_MAX = 5 * 2 ** 30;
/** Tries of one write; the library itself does not send a stream twice. */
const PUT_TRIES_MAX = 3;
/** A store that takes a large object gets this much more time for each MiB, in ms: 1 MiB a second is slow. */
const PUT_MS_PER_MIB = 1_000;

/** A body on the local disk, of which everything is known. */
export type Spooled = { readonly file: FileHandle; readonly record: ObjectRecord };

/**
 * Brings a body whole to the local disk before any of it is sent. S3 has to be told length and checksum beforehand; a
 * body that is too long or breaks off leaves nothing in the bucket; a request that failed is sent again; and memory
 * stays flat. The file has no name from the start, so that not even kill -9 leaves it behind.
 */
export async function withSpooled<Result>(folder: string, source: Readable | string, limits: WriteLimits, work: (spooled: Spooled) => Promise<Result>): Promise<Result> {
  const file = await onLocalDisk(() => (typeof source === 'string' ? open(source, 'r') : openNameless(folder)));
  try {
    const bounds = { ...limits, maxBytes: Math.min(limits.maxBytes, PUT_BYTES_MAX) };
    const record = await onLocalDisk(() => (typeof source === 'string' ? describeFile(file, bounds) : copyBody(receivedBytes(source), file, bounds)));
    return await work({ file, record });
  } finally {
    await file.close();
  }
}

/** Stores a spooled body under a name of the bucket. The store checks it against its MD5 before it keeps it. */
export async function putSpooled(bucket: Bucket, name: string, spooled: Spooled): Promise<ObjectHead> {
  const { record } = spooled;
  const limitMs = LONG_REQUEST_MS_MAX + Math.ceil(record.size_bytes / 2 ** 20) * PUT_MS_PER_MIB;
  for (let tries = 1; ; tries += 1) {
    const body = readSpooled(spooled);
    try {
      const command = new PutObjectCommand({ Bucket: bucket.name, Key: name, Body: body, ContentLength: record.size_bytes, ContentMD5: contentMd5(spooled) });
      const answer = await bucket.client.send(command, { abortSignal: AbortSignal.timeout(limitMs) });
      return { size_bytes: record.size_bytes, etag: bareTag(answer.ETag) };
    } catch (error) {
      const translated = translateS3Error(error);
      if (!(translated instanceof TransientError) || tries === PUT_TRIES_MAX) throw translated;
    } finally {
      body.destroy();
    }
  }
}

/** The bytes of a spooled body from the start. The file stays open, which a read stream of its own would close. */
export function readSpooled({ file, record }: Spooled): Readable {
  return Readable.from(contentBytes(file, record.size_bytes), { objectMode: false, highWaterMark: READ_CHUNK_BYTES });
}

/** Checksum that the store compares before it keeps a body. */
export function contentMd5({ record }: Spooled): string {
  return Buffer.from(record.etag, 'hex').toString('base64');
}

async function openNameless(folder: string): Promise<FileHandle> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, randomUUID());
  const file = await open(path, 'wx+', 0o600);
  await rm(path);
  return file;
}

async function describeFile(file: FileHandle, limits: WriteLimits): Promise<ObjectRecord> {
  const { size } = await file.stat();
  if (size > limits.maxBytes) throw new ObjectTooLargeError(limits.maxBytes);
  const [md5, sha256] = [createHash('md5'), createHash('sha256')];
  let read = 0;
  for await (const chunk of contentBytes(file, size)) {
    md5.update(chunk);
    sha256.update(chunk);
    read += chunk.length;
  }
  return { size_bytes: read, etag: md5.digest('hex'), sha256: sha256.digest('hex') };
}

/** A full local disk passes; what the body itself ended with is passed on. */
async function onLocalDisk<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CodedError) throw error;
    throw new TransientError('storage', 'a file cannot be kept on the local disk while it is sent to the object store', { cause: error });
  }
}
