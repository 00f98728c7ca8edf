import { createSecretKey, type KeyObject } from 'node:crypto';
import { ConfigurationError, Defect } from '../errors/errors.ts';
import { decrypt, encrypt } from './aes-gcm.ts';
import type { MasterKey } from './master-key.ts';

const VERSION = 'v1';

/** `v1.<kid>.<nonce>.<ciphertext and tag>`: a data key under the master key, bound to its name. */
export function wrapKey(masterKey: MasterKey, name: string, key: KeyObject): string {
  return `${VERSION}.${masterKey.kid}.${encrypt(masterKey.derive('data-keys'), key.export(), name)}`;
}

/**
 * Opposite of `wrapKey`. Throws `ConfigurationError` when it was wrapped under another master key, `Defect` when it was
 * altered or belongs to another name.
 */
export function unwrapKey(masterKey: MasterKey, name: string, wrapped: string): KeyObject {
  const [version, kid, ...encrypted] = wrapped.split('.');
  if (version !== VERSION || kid === undefined) throw new Defect('a wrapped data key has an unknown form');
  if (kid !== masterKey.kid) {
    throw new ConfigurationError([`MASTER_KEY: the stored data keys were wrapped under another master key (${kid}; this one is ${masterKey.kid}). Set the key this installation was started with.`]);
  }
  const key = decrypt(masterKey.derive('data-keys'), encrypted.join('.'), name);
  if (!key) throw new Defect('a wrapped data key does not open: altered, or moved to another name');
  return createSecretKey(key);
}
