import type { Readable } from 'node:stream';
import { ObjectTooLargeError } from './errors.ts';
import type { ObjectKey } from './keys.ts';
import type { ObjectRecord, ObjectStore } from './object-store.ts';

/**
 * Takes the body of a client's PUT. `declaredBytes` is its `Content-Length`, undefined for a chunked body. A length
 * over the limit is refused before a byte is read, a chunked body as soon as it passes the limit (D46).
 * Throws `ObjectTooLargeError`, `IncompleteBodyError`, `ObjectExistsError`, `TransientError`; the body is left open.
 */
export async function receiveUpload(
  store: ObjectStore,
  key: ObjectKey,
  body: Readable,
  size: { readonly declaredBytes: number | undefined; readonly maxBytes: number },
): Promise<ObjectRecord> {
  const { declaredBytes, maxBytes } = size;
  if (declaredBytes === undefined) return await store.write(key, body, { maxBytes });
  if (declaredBytes > maxBytes) throw new ObjectTooLargeError(maxBytes);
  return await store.write(key, body, { maxBytes, expectedBytes: declaredBytes });
}
