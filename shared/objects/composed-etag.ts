import { createHash } from 'node:crypto';
import type { NamedPart } from './object-store.ts';

const COMPOSED = /^[0-9a-f]{32}-\d{1,5}$/;

/** Parts in the order of their numbers, in which files are assembled, however a client listed them. */
export function inOrder(parts: readonly NamedPart[]): readonly NamedPart[] {
  return parts.toSorted((one, other) => one.part_number - other.part_number);
}

/**
 * Entity tag of an object that was assembled from parts, as S3 makes it: MD5 of the MD5s of the parts in the order of
 * their numbers, and how many there are.
 */
export function composeEtag(parts: readonly NamedPart[]): string {
  const hash = createHash('md5');
  for (const { etag } of inOrder(parts)) hash.update(etag, 'hex');
  return `${hash.digest('hex')}-${parts.length}`;
}

/** True for the entity tag of an object that was assembled from parts; one PUT never gives such a tag. */
export function isComposedEtag(etag: string): boolean {
  return COMPOSED.test(etag);
}
