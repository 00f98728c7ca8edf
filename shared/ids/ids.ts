import { createHash, randomBytes } from 'node:crypto';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** True for a UUID in canonical lower case, the only spelling our ids have (D3). */
export function isId(value: string): boolean {
  return UUID.test(value);
}

/** A new UUIDv7: sortable by time, so an id names the month its stream belongs to; 74 random bits. */
export function newId(nowMs: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(nowMs, 0, 6);
  return format(bytes, 0x70);
}

/** The same UUID (version 8) for the same parts, so that a command that is sent twice has one id. */
export function deriveId(...parts: readonly (string | number)[]): string {
  return format(createHash('sha256').update(JSON.stringify(parts)).digest().subarray(0, 16), 0x80);
}

function format(bytes: Buffer, version: number): string {
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | version, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
