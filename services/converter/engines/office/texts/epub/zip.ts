import { crc32, deflateRawSync } from 'node:zlib';

/** A file to be put into an archive. */
export interface ZipEntry {
  readonly name: string;
  readonly bytes: Buffer;
  /** True where it must lie in the archive as it is. */
  readonly stored?: boolean;
}

const VERSION = 20;
const DEFLATED = 8;
/** Names are in UTF-8. */
const FLAGS = 0x0800;
/** The first day that an archive knows, so that the same book always has the same bytes. */
const DATE = 0x0021;

/** An archive of files, in their order. All of it must fit into 4 GiB and 65,535 files, which a book does by far. */
export function writeZip(entries: readonly ZipEntry[]): Buffer {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, bytes, stored = false } of entries) {
    const data = stored ? bytes : deflateRawSync(bytes);
    const header = Buffer.alloc(26);
    header.writeUInt16LE(VERSION, 0);
    header.writeUInt16LE(FLAGS, 2);
    header.writeUInt16LE(stored ? 0 : DEFLATED, 4);
    header.writeUInt16LE(DATE, 8);
    header.writeUInt32LE(crc32(bytes), 10);
    header.writeUInt32LE(data.length, 14);
    header.writeUInt32LE(bytes.length, 18);
    header.writeUInt16LE(Buffer.byteLength(name), 22);
    const file = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), header, Buffer.from(name), data]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02', 'latin1'), Buffer.from([VERSION, 0]), header, place.subarray(0, 14), Buffer.from(name)]));
    files.push(file);
    offset += file.length;
  }
  const listing = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(listing.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...files, listing, Buffer.from('PK\x05\x06', 'latin1'), end]);
}
