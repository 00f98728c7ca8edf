import { Defect } from '../../errors/errors.ts';
import { checkKey, isWrittenOnce, type ObjectKey } from '../keys.ts';

/**
 * How our keys lie in the bucket. A result is one object under its own key. A source is a folder: what clients sent lies
 * beside a small object, the claim, that says which of it is the file of the job (see `claim.ts`). Throws `Defect`.
 */
export function folderOf(key: ObjectKey): string {
  if (!isWrittenOnce(key)) throw new Defect('only a source has a folder in the bucket');
  return `${checkKey(key).key}/`;
}

/** Where the upload URL puts the file; clients can put another one there for as long as their URL works. */
export function incomingName(key: ObjectKey): string {
  return `${folderOf(key)}incoming`;
}

/** Where the parts of a multipart upload are put together. */
export function assembledName(key: ObjectKey): string {
  return `${folderOf(key)}assembled`;
}

/** Which upload in parts is open. */
export function openUploadName(key: ObjectKey): string {
  return `${folderOf(key)}open-upload`;
}

/** Copy of an incoming file, by its entity tag: whoever copies the same file writes the same object. */
export function copyName(key: ObjectKey, etag: string): string {
  return `${folderOf(key)}copy-${etag}`;
}

/** A file that this service wrote; each write has its own. */
export function writtenName(key: ObjectKey, id: string): string {
  return `${folderOf(key)}written-${id}`;
}

const CLAIM = 'claim';

/** Says which object is the file of the job. */
export function claimName(key: ObjectKey): string {
  return `${folderOf(key)}${CLAIM}`;
}

/** The key whose claim an object is; undefined for every other object. */
export function claimedKey(name: string): string | undefined {
  const suffix = `/${CLAIM}`;
  return name.endsWith(suffix) ? name.slice(0, -suffix.length) : undefined;
}

/** What a probe writes. */
export const PROBE_NAME = 'probe';
