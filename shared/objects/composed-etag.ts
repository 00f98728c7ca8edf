import { createHash } from 'node:crypto';
import type { NamedPart } from './object-store.ts';

const COMPOSED = /^[0-9a-f]{32}-\d{1,5}$/;

/** Entity tag of an object that was assembled from parts, as S3 makes it: MD5 of the MD5s of the parts, and their number. */
export function composeEtag(parts: readonly NamedPart[]): string {
  const hash = createHash('md5');
  for (const { etag } of parts) hash.update(etag, 'hex');
  return `${hash.digest('hex')}-${parts.length}`;
}

/** True for the entity tag of an object that was assembled from parts; one PUT never gives such a tag. */
export function isComposedEtag(etag: string): boolean {
  return COMPOSED.test(etag);
}
