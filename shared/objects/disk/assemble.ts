import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { composeEtag } from '../composed-etag.ts';
import { PartMismatchError } from '../errors.ts';
import type { NamedPart, ObjectRecord } from '../object-store.ts';
import { contentBytes, readDescribed } from './content.ts';
import type { FreeSpace } from './free-space.ts';
import { unless } from './storage-error.ts';

/**
 * Copies the parts of an upload into one open file, in the order given, one chunk in memory at a time. The parts stay as
 * they are, so that it can be done again after a crash. Throws `PartMismatchError` when one is not there or another,
 * `TransientError` when `space` has no more room.
 */
export async function copyParts(parts: readonly NamedPart[], pathOf: (partNumber: number) => string, target: FileHandle, space: FreeSpace): Promise<ObjectRecord> {
  const sha256 = createHash('sha256');
  let size = 0;
  for (const { part_number, etag } of parts) {
    const opened = await unless(['ENOENT'], readDescribed(pathOf(part_number)));
    if (!opened) throw new PartMismatchError(part_number);
    try {
      if (opened.record.etag !== etag) throw new PartMismatchError(part_number);
      for await (const chunk of space.whileRoom(contentBytes(opened.file, opened.record.size_bytes))) {
        sha256.update(chunk);
        await target.writeFile(chunk);
        size += chunk.length;
      }
    } finally {
      await opened.file.close();
    }
  }
  return { size_bytes: size, etag: composeEtag(parts), sha256: sha256.digest('hex') };
}
