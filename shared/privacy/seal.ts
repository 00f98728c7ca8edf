import type { KeyObject } from 'node:crypto';
import { Defect } from '../errors/errors.ts';
import { decrypt, encrypt } from './aes-gcm.ts';

/** Version of the form; a new one joins it when the cipher changes, because sealed fields are never rewritten. */
const VERSION = 'v1';

/**
 * Seals a JSON value into a field of an event (kind `sealed`, D88). `associatedData` names the place it belongs to, such
 * as organization, job and field, so that a sealed value cannot be moved to another.
 */
export function seal(key: KeyObject, value: unknown, associatedData: string): string {
  return `${VERSION}.${encrypt(key, Buffer.from(JSON.stringify(value)), associatedData)}`;
}

/**
 * The value that was sealed; the caller parses it. Throws `Defect` when it was altered, belongs to another place, or
 * was sealed under another key.
 */
export function open(key: KeyObject, sealed: string, associatedData: string): unknown {
  const plaintext = sealed.startsWith(`${VERSION}.`) ? decrypt(key, sealed.slice(VERSION.length + 1), associatedData) : undefined;
  if (!plaintext) throw new Defect('a sealed field does not open: altered, moved, or sealed under another key');
  return JSON.parse(plaintext.toString());
}
