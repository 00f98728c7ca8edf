import { opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isId } from '../../ids/ids.ts';
import { checkPrefix, parseKey, type ObjectPrefix } from '../keys.ts';
import type { ListedObject } from '../object-store.ts';
import { onDisk, unless } from './storage-error.ts';
import { TRAILER_BYTES } from './trailer.ts';

/** Every stored file whose key starts with `prefix`. Names that are not ours are passed over. */
export async function* listFolder(root: string, prefix: ObjectPrefix): AsyncGenerator<ListedObject> {
  const folder = await onDisk(() => unless(['ENOENT'], opendir(join(root, checkPrefix(prefix)))));
  if (!folder) return;
  for await (const entry of folder) {
    const name = `${prefix}${entry.name}`;
    if (entry.isDirectory() && prefix === 'result/' && isId(entry.name)) yield* listFolder(root, `${prefix}${entry.name}/`);
    const key = entry.isFile() ? parseKey(name)?.key : undefined;
    // The object may be removed while the folder is listed.
    const found = key && (await onDisk(() => unless(['ENOENT'], stat(join(root, key)))));
    if (key && found) yield { key, size_bytes: found.size - TRAILER_BYTES, modified_at_ms: found.mtimeMs };
  }
}
