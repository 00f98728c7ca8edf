import { open, readFile } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { Defect } from '../../../../shared/errors/errors.ts';

const LOCAL_HEADER = 0x04034b50;
const CENTRAL_HEADER = 0x02014b50;
const END_OF_DIRECTORY = 0x06054b50;

/** The version of ZIP that brought folders, which every reader knows. */
const VERSION = 20;

/** 1 January 1980, the first day that ZIP can name: equal sources give equal archives. */
const DATE = 0x0021;

/** What the fields of a plain ZIP can hold. */
const BYTES_MAX = 0xffff_ffff;
const ENTRIES_MAX = 0xffff;

/** An archive that is being written. */
export interface ZipFile {
  /** Appends a file as it is: pictures are compressed already. `name` is plain ASCII, of ours. */
  add(name: string, path: string): Promise<void>;
  /** Writes the directory, without which it is no archive. */
  close(): Promise<void>;
}

/** Begins a ZIP archive. @throws Defect when it would outgrow the format; callers bound what they add. */
export async function createZip(path: string): Promise<ZipFile> {
  const file = await open(path, 'wx');
  const directory: Buffer[] = [];
  let offset = 0;
  const write = async (bytes: Buffer): Promise<void> => {
    await file.writeFile(bytes);
    offset += bytes.length;
    if (offset > BYTES_MAX) throw new Defect('an archive of more than 4 GiB');
  };
  return {
    add: async (name, from) => {
      if (directory.length >= ENTRIES_MAX) throw new Defect('an archive of too many files');
      const content = await readFile(from);
      const fields = fieldsOf(name, content);
      directory.push(centralHeader(name, fields, offset));
      await write(Buffer.concat([signature(LOCAL_HEADER), fields, Buffer.from(name)]));
      await write(content);
    },
    close: async () => {
      const start = offset;
      for (const entry of directory) await write(entry);
      await write(endOfDirectory(directory.length, offset - start, start));
      await file.close();
    },
  };
}

function signature(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

/** What the header before a file and the one in the directory have in common: 26 bytes. */
function fieldsOf(name: string, content: Buffer): Buffer {
  const bytes = Buffer.alloc(26);
  bytes.writeUInt16LE(VERSION, 0);
  bytes.writeUInt16LE(DATE, 8);
  bytes.writeUInt32LE(crc32(content), 10);
  bytes.writeUInt32LE(content.length, 14);
  bytes.writeUInt32LE(content.length, 18);
  bytes.writeUInt16LE(name.length, 22);
  return bytes;
}

function centralHeader(name: string, fields: Buffer, offset: number): Buffer {
  const madeBy = Buffer.alloc(2);
  madeBy.writeUInt16LE(VERSION);
  const rest = Buffer.alloc(14);
  rest.writeUInt32LE(offset, 10);
  return Buffer.concat([signature(CENTRAL_HEADER), madeBy, fields, rest, Buffer.from(name)]);
}

function endOfDirectory(entries: number, sizeBytes: number, start: number): Buffer {
  const bytes = Buffer.alloc(18);
  bytes.writeUInt16LE(entries, 4);
  bytes.writeUInt16LE(entries, 6);
  bytes.writeUInt32LE(sizeBytes, 8);
  bytes.writeUInt32LE(start, 12);
  return Buffer.concat([signature(END_OF_DIRECTORY), bytes]);
}
