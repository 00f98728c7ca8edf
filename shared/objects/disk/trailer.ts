import type { FileHandle } from 'node:fs/promises';
import { z } from 'zod';
import { etag, sha256, sizeBytes } from '../../events/fields.ts';
import { ObjectDamagedError } from '../errors.ts';
import type { ObjectRecord } from '../object-store.ts';
import { parseJson } from '../../json/parse-json.ts';

/**
 * Every stored file ends with these many bytes that say what is before them: JSON, filled up with spaces. Content and
 * description are thus one file, which one system call publishes: a crash can neither leave one without the other nor
 * pair the content of one upload with the description of another, as it could with a file beside. A fixed length at the
 * end, because the hashes are known last and ranges then need no shift.
 */
export const TRAILER_BYTES = 256;

const trailer = z.object({ v: z.literal(1), size_bytes: sizeBytes, etag, sha256 });

/** The last bytes of a stored file. */
export function encodeTrailer(record: ObjectRecord): Buffer {
  const text = JSON.stringify({ v: 1, size_bytes: record.size_bytes, etag: record.etag, sha256: record.sha256 });
  return Buffer.from(`${text.padEnd(TRAILER_BYTES - 1)}\n`);
}

/** Reads what an open file is. Throws `ObjectDamagedError` when its end is missing or does not fit its length. */
export async function readTrailer(file: FileHandle): Promise<ObjectRecord> {
  const { size } = await file.stat();
  const contentBytes = size - TRAILER_BYTES;
  if (contentBytes < 0) throw new ObjectDamagedError('a stored file is shorter than its description');
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(TRAILER_BYTES), position: contentBytes });
  const parsed = trailer.safeParse(parseJson(buffer.toString('utf8', 0, bytesRead)));
  if (!parsed.success || parsed.data.size_bytes !== contentBytes) throw new ObjectDamagedError('a stored file is damaged: its end does not describe it');
  const { size_bytes, etag: tag, sha256: hash } = parsed.data;
  return { size_bytes, etag: tag, sha256: hash };
}
