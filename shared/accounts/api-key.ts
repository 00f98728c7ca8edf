import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 44 base62 characters hold 262 bits, so a fast hash of the secret is enough. */
const RANDOM_CHARACTERS = 44;
const CHECKSUM_CHARACTERS = 6;
const FORM = /^svc_(live|test)_([0-9A-Za-z]{44})([0-9A-Za-z]{6})$/;
/** Bytes at or above the largest multiple of 62 are thrown away, or some characters would come more often. */
const FAIR_BYTE_MAX = 62 * 4;

/** A new secret, `svc_live_…` or `svc_test_…` (§5), with a checksum at its end. */
export function newSecret(mode: 'live' | 'test'): string {
  const prefix = `svc_${mode}_`;
  let random = '';
  while (random.length < RANDOM_CHARACTERS) {
    for (const byte of randomBytes(RANDOM_CHARACTERS)) {
      if (byte < FAIR_BYTE_MAX && random.length < RANDOM_CHARACTERS) random += ALPHABET.charAt(byte % 62);
    }
  }
  return prefix + random + checksum(prefix + random);
}

/** True when the text could be a secret of ours; spares a look-up and tells nothing about existence. */
export function isWellFormedSecret(text: string): boolean {
  if (!FORM.test(text)) return false;
  return text.endsWith(checksum(text.slice(0, -CHECKSUM_CHARACTERS)));
}

/** What is kept of a secret: its SHA-256 in hex. */
export function secretHash(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

function checksum(text: string): string {
  let value = crc32(text);
  let digits = '';
  for (let place = 0; place < CHECKSUM_CHARACTERS; place += 1) {
    digits = ALPHABET.charAt(value % 62) + digits;
    value = Math.floor(value / 62);
  }
  return digits;
}
