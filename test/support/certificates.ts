import { generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { isIP } from 'node:net';

/** Certificate and private key in PEM. */
export type TestIdentity = { readonly cert: string; readonly key: string };

/** An authority of a test, which vouches for any names and IPv4 addresses. */
export interface TestAuthority {
  readonly cert: string;
  issue(names: readonly string[]): TestIdentity;
}

/** A new authority. Its certificates are made here, byte by byte, so that no private key lies in the repository. */
export function createAuthority(): TestAuthority {
  const authority = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const cert = certify({ subject: 'Test authority', publicKey: authority.publicKey, signer: authority.privateKey, extensions: [extension(BASIC_CONSTRAINTS, true, sequence(tag(0x01, Buffer.from([0xff]))))] });
  return {
    cert,
    issue(names) {
      const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const alternatives = names.map((name) => (isIP(name) === 4 ? tag(0x87, Buffer.from(name.split('.').map(Number))) : tag(0x82, Buffer.from(name))));
      const extensions = [extension(SUBJECT_ALT_NAME, false, sequence(...alternatives))];
      return { cert: certify({ subject: 'Test host', publicKey: own.publicKey, signer: authority.privateKey, extensions }), key: own.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
    },
  };
}

const ECDSA_WITH_SHA256 = '06082a8648ce3d040302';
const COMMON_NAME = '0603550403';
const BASIC_CONSTRAINTS = '0603551d13';
const SUBJECT_ALT_NAME = '0603551d11';
const DAY_MS = 86_400_000;

type Certificate = { readonly subject: string; readonly publicKey: KeyObject; readonly signer: KeyObject; readonly extensions: readonly Buffer[] };

/** X.509 version 3 (RFC 5280), issued by "Test authority", valid from yesterday until tomorrow. */
function certify({ subject, publicKey, signer, extensions }: Certificate): string {
  const algorithm = sequence(hex(ECDSA_WITH_SHA256));
  const body = sequence(
    tag(0xa0, tag(0x02, Buffer.from([2]))),
    tag(0x02, Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    algorithm,
    nameOf('Test authority'),
    sequence(timeAt(Date.now() - DAY_MS), timeAt(Date.now() + DAY_MS)),
    nameOf(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    tag(0xa3, sequence(...extensions)),
  );
  const signature = tag(0x03, Buffer.concat([Buffer.from([0]), sign('sha256', body, signer)]));
  const text = sequence(body, algorithm, signature).toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${text.join('\n')}\n-----END CERTIFICATE-----\n`;
}

function extension(oid: string, critical: boolean, value: Buffer): Buffer {
  return sequence(hex(oid), ...(critical ? [tag(0x01, Buffer.from([0xff]))] : []), tag(0x04, value));
}

function nameOf(text: string): Buffer {
  return sequence(tag(0x31, sequence(hex(COMMON_NAME), tag(0x0c, Buffer.from(text)))));
}

function timeAt(ms: number): Buffer {
  return tag(0x18, Buffer.from(new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, '')));
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tag(0x30, Buffer.concat(parts));
}

/** Tag, length and value of DER. */
function tag(type: number, value: Buffer): Buffer {
  const length = value.length < 0x80 ? [value.length] : value.length < 0x100 ? [0x81, value.length] : [0x82, value.length >> 8, value.length & 0xff];
  return Buffer.concat([Buffer.from([type, ...length]), value]);
}

function hex(text: string): Buffer {
  return Buffer.from(text, 'hex');
}
