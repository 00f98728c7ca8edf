import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { ConfigurationError } from '../errors/errors.ts';

/** Length of the master key and of every key made from it. */
const KEY_BYTES = 32;
/** Enough of a hash to tell two keys apart, too little to help anybody. */
const KEY_ID_BYTES = 6;

/** What a key derived from the master key is for; keys of different purposes tell nothing about each other. */
export type KeyPurpose = 'file-links' | 'data-keys' | 'tags' | 'idempotency' | 'addresses';

/** The one secret from which all others follow. Its bytes are not reachable from here, so no log can show them. */
export interface MasterKey {
  /** Public name of the key, kept beside what it wraps, so that a wrong key is told from damaged data. */
  readonly kid: string;
  /** The key of 32 bytes for one purpose; always the same for the same master key. */
  derive(purpose: KeyPurpose): KeyObject;
}

/** Reads `MASTER_KEY`: 32 bytes in base64. Throws `ConfigurationError` when it is anything else. */
export function openMasterKey(base64: string): MasterKey {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length !== KEY_BYTES) throw new ConfigurationError([`MASTER_KEY: must be ${KEY_BYTES} bytes in base64`]);
  const secret = createSecretKey(bytes);
  const expand = (info: string, length: number): Buffer => Buffer.from(hkdfSync('sha256', secret, '', info, length));
  return Object.freeze({
    kid: expand('key-id', KEY_ID_BYTES).toString('hex'),
    derive: (purpose: KeyPurpose) => createSecretKey(expand(purpose, KEY_BYTES)),
  });
}
