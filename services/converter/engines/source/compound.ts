import type { FileHandle } from 'node:fs/promises';
import { EngineFailure } from '../failure.ts';

/** Bytes of the header. */
const HEADER_BYTES = 512;
/** Sectors of the table of sectors that the header itself lists; enough for files of 7 MB, others list more elsewhere. */
const TABLES_IN_HEADER = 109;
/** Bytes of one entry of the directory. */
const ENTRY_BYTES = 128;
/** Sectors of the directory that are read: 4,000 streams and folders. The root's own are among the first. */
const DIRECTORY_SECTORS_MAX = 1_000;
/** Sectors that list further tables; each covers 8 MB. */
const LIST_SECTORS_MAX = 300;
/** Marks the end of a chain of sectors, and everything above it no sector at all. */
const LAST_SECTOR = 0xfffffffa;
const NO_ENTRY = 0xffffffff;

interface Layout {
  readonly file: FileHandle;
  readonly sectorBytes: number;
  /** Sectors that hold the table which names the next sector of each. */
  readonly tables: readonly number[];
}

/**
 * Names of the streams and folders at the root of a compound file, in lower case because nobody agrees on theirs; what
 * is deeper belongs to documents that are embedded.
 * @throws EngineFailure `damaged`.
 */
export async function listRoot(file: FileHandle): Promise<ReadonlySet<string>> {
  const header = await readExactly(file, 0, HEADER_BYTES);
  const shift = header.readUInt16LE(30);
  if (shift !== 9 && shift !== 12) throw new EngineFailure('damaged');
  const layout = { file, sectorBytes: 2 ** shift, tables: await listTables(file, header, 2 ** shift) };
  const directory = await readChain(layout, header.readUInt32LE(48));
  return namesUnderRoot(directory);
}

async function listTables(file: FileHandle, header: Buffer, sectorBytes: number): Promise<number[]> {
  const tables = sectorsIn(header.subarray(76, 76 + 4 * TABLES_IN_HEADER));
  let next = header.readUInt32LE(68);
  for (let lists = 0; next < LAST_SECTOR; lists += 1) {
    if (lists === LIST_SECTORS_MAX) throw new EngineFailure('damaged');
    const list = await readSector({ file, sectorBytes }, next);
    tables.push(...sectorsIn(list.subarray(0, -4)));
    next = list.readUInt32LE(sectorBytes - 4);
  }
  return tables;
}

function sectorsIn(bytes: Buffer): number[] {
  return Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readUInt32LE(4 * index)).filter((sector) => sector < LAST_SECTOR);
}

async function readChain(layout: Layout, first: number): Promise<Buffer> {
  const sectors: Buffer[] = [];
  for (let sector = first; sector < LAST_SECTOR && sectors.length < DIRECTORY_SECTORS_MAX; sector = await nextOf(layout, sector)) {
    sectors.push(await readSector(layout, sector));
  }
  return Buffer.concat(sectors);
}

async function nextOf(layout: Layout, sector: number): Promise<number> {
  const perTable = layout.sectorBytes / 4;
  const table = layout.tables[Math.floor(sector / perTable)];
  if (table === undefined) throw new EngineFailure('damaged');
  const position = (table + 1) * layout.sectorBytes + 4 * (sector % perTable);
  return (await readExactly(layout.file, position, 4)).readUInt32LE(0);
}

/** The first entry is the root; its children are a tree, in which each has a left and a right neighbour. */
function namesUnderRoot(directory: Buffer): ReadonlySet<string> {
  const entry = (index: number): Buffer => directory.subarray(index * ENTRY_BYTES, (index + 1) * ENTRY_BYTES);
  const names = new Set<string>();
  const seen = new Set<number>();
  const waiting = [pointer(entry(0), 76)];
  for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) {
    const bytes = entry(index);
    if (index === NO_ENTRY || seen.has(index) || bytes.length < ENTRY_BYTES) continue;
    seen.add(index);
    names.add(bytes.toString('utf16le', 0, Math.max(0, Math.min(bytes.readUInt16LE(64), 64) - 2)).toLowerCase());
    waiting.push(pointer(bytes, 68), pointer(bytes, 72));
  }
  return names;
}

function pointer(entry: Buffer, offset: number): number {
  if (entry.length < ENTRY_BYTES) throw new EngineFailure('damaged');
  return entry.readUInt32LE(offset);
}

function readSector({ file, sectorBytes }: Pick<Layout, 'file' | 'sectorBytes'>, sector: number): Promise<Buffer> {
  return readExactly(file, (sector + 1) * sectorBytes, sectorBytes);
}

/** A file that ends before its own sectors was cut off. The last sector is often not filled up. */
async function readExactly(file: FileHandle, position: number, bytes: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, position);
  if (bytesRead === 0 || (position === 0 && bytesRead < bytes)) throw new EngineFailure('damaged');
  return buffer;
}
