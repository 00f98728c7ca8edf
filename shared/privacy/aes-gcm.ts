import { createCipheriv, createDecipheriv, randomBytes, type KeyObject } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
/** 96 bits, the size GCM is made for. Random, so one key must not seal more than 2^32 times (NIST SP 800-38D §8.3). */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** `<nonce>.<ciphertext and tag>`, both base64url. `associatedData` is not hidden, but must be the same to decrypt. */
export function encrypt(key: KeyObject, plaintext: Uint8Array, associatedData: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(associatedData));
  const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
  return `${nonce.toString('base64url')}.${ciphertext.toString('base64url')}`;
}

/** Opposite of `encrypt`; undefined when text, key or associated data are not those of the encryption. */
export function decrypt(key: KeyObject, text: string, associatedData: string): Buffer | undefined {
  const [nonceText = '', bodyText = '', ...rest] = text.split('.');
  const nonce = Buffer.from(nonceText, 'base64url');
  const body = Buffer.from(bodyText, 'base64url');
  if (rest.length > 0 || nonce.length !== NONCE_BYTES || body.length < TAG_BYTES) return undefined;
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(associatedData));
  decipher.setAuthTag(body.subarray(-TAG_BYTES));
  const plaintext = decipher.update(body.subarray(0, -TAG_BYTES));
  try {
    return Buffer.concat([plaintext, decipher.final()]);
  } catch {
    // final() fails on a wrong tag only, and that is the answer.
    return undefined;
  }
}
