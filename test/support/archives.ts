import { crc32, deflateRawSync } from 'node:zlib';

/** A member of an archive that a test makes, with whatever lies an attacker would tell about it. */
export interface MemberSpec {
  readonly name: string;
  readonly data?: Buffer | string;
  /** Told instead of the right number. */
  readonly unpackedBytes?: number;
  /** Where the list says that the member begins: with the same number of another member both share bytes. */
  readonly offset?: number;
  readonly flags?: number;
  readonly attributes?: number;
  readonly stored?: boolean;
}

/** Made by Unix, so that the attributes are those of a file there. */
const MADE_BY = 0x0314;

/** An archive of these members, in order. */
export function makeZip(members: readonly MemberSpec[]): Buffer {
  const parts: Buffer[] = [];
  const list: Buffer[] = [];
  let position = 0;
  for (const member of members) {
    const data = Buffer.from(member.data ?? '');
    const packed = member.stored === true ? data : deflateRawSync(data);
    const name = Buffer.from(member.name);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(member.flags ?? 0, 2);
    fields.writeUInt16LE(member.stored === true ? 0 : 8, 4);
    fields.writeUInt32LE(crc32(data), 10);
    fields.writeUInt32LE(packed.length, 14);
    fields.writeUInt32LE(member.unpackedBytes ?? data.length, 18);
    fields.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), fields, name, packed]);
    list.push(listEntry(fields, name, member, member.offset ?? position));
    parts.push(local);
    position += local.length;
  }
  const directory = Buffer.concat(list);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(members.length, 4);
  end.writeUInt16LE(members.length, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(position, 12);
  return Buffer.concat([...parts, directory, Buffer.from('PK\x05\x06'), end]);
}

function listEntry(fields: Buffer, name: Buffer, { attributes = 0 }: MemberSpec, offset: number): Buffer {
  const madeBy = Buffer.alloc(2);
  madeBy.writeUInt16LE(MADE_BY);
  const rest = Buffer.alloc(14);
  rest.writeUInt32LE(attributes, 6);
  rest.writeUInt32LE(offset, 10);
  return Buffer.concat([Buffer.from('PK\x01\x02'), madeBy, fields, rest, name]);
}

const CONTENT_TYPES = {
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml',
} as const;

/** The member that says of what kind an Office Open XML document is. */
export function contentTypes(kind: keyof typeof CONTENT_TYPES, type: string = CONTENT_TYPES[kind]): MemberSpec {
  const main = { docx: 'word/document.xml', xlsx: 'xl/workbook.xml', pptx: 'ppt/presentation.xml' }[kind];
  const fixed = '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>';
  return { name: '[Content_Types].xml', data: `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">${fixed}<Override PartName="/${main}" ContentType="${type}"/></Types>` };
}

/** A compound file, as older Office writes them, whose root has streams of these names and nothing in them. */
export function makeCompound(streams: readonly string[]): Buffer {
  const header = Buffer.alloc(512);
  Buffer.from('d0cf11e0a1b11ae1', 'hex').copy(header);
  header.writeUInt16LE(0x3e, 24);
  header.writeUInt16LE(3, 26);
  header.writeUInt16LE(0xfffe, 28);
  header.writeUInt16LE(9, 30);
  header.writeUInt16LE(6, 32);
  header.writeUInt32LE(1, 44);
  header.writeUInt32LE(1, 48);
  header.writeUInt32LE(4096, 56);
  header.writeUInt32LE(0xfffffffe, 60);
  header.writeUInt32LE(0xfffffffe, 68);
  header.fill(0xff, 76);
  header.writeUInt32LE(0, 76);
  const directory = Buffer.concat([compoundEntry('Root Entry', 5, streams.length === 0 ? undefined : 1), ...streams.map((name, index) => compoundEntry(name, 2, undefined, index + 1 < streams.length ? index + 2 : undefined))]);
  const sectors = Math.ceil(directory.length / 512);
  const table = Buffer.alloc(512, 0xff);
  table.writeUInt32LE(0xfffffffd, 0);
  for (let sector = 1; sector <= sectors; sector += 1) table.writeUInt32LE(sector === sectors ? 0xfffffffe : sector + 1, 4 * sector);
  return Buffer.concat([header, table, directory, Buffer.alloc(sectors * 512 - directory.length)]);
}

function compoundEntry(name: string, type: number, child?: number, right?: number): Buffer {
  const entry = Buffer.alloc(128);
  entry.write(name, 'utf16le');
  entry.writeUInt16LE(2 * name.length + 2, 64);
  entry[66] = type;
  entry.writeUInt32LE(0xffffffff, 68);
  entry.writeUInt32LE(right ?? 0xffffffff, 72);
  entry.writeUInt32LE(child ?? 0xffffffff, 76);
  entry.writeUInt32LE(0xfffffffe, 116);
  return entry;
}
