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
/** Bytes of the small sectors that share the root's own stream, in which shorter streams lie. */
const SMALL_SECTOR_BYTES = 64;
/** Streams from this length on have sectors of their own. */
const OWN_SECTORS_FROM = 4_096;
/** Sectors of the root's own stream that are gone through: 5 MB of short streams. */
const SMALL_STREAMS_MAX = 10_000;

interface Layout {
  readonly file: FileHandle;
  readonly sectorBytes: number;
  /** Sectors that hold the table which names the next sector of each. */
  readonly tables: readonly number[];
}

/** The root of a compound file; what is deeper belongs to documents that are embedded. */
export interface CompoundRoot {
  /** Names of the streams and folders, in lower case because nobody agrees on theirs. */
  readonly names: ReadonlySet<string>;
  /**
   * The first bytes of a stream, up to 64; none where there is no such stream.
   * @throws EngineFailure `damaged`.
   */
  readonly readStart: (name: string) => Promise<Buffer>;
}

/**
 * Reads what lies at the root of a compound file.
 * @throws EngineFailure `damaged`.
 */
export async function readRoot(file: FileHandle): Promise<CompoundRoot> {
  const header = await readExactly(file, 0, HEADER_BYTES);
  const shift = header.readUInt16LE(30);
  if (shift !== 9 && shift !== 12) throw new EngineFailure('damaged');
  const layout = { file, sectorBytes: 2 ** shift, tables: await listTables(file, header, 2 ** shift) };
  const directory = await readChain(layout, header.readUInt32LE(48));
  const entries = entriesUnderRoot(directory);
  return { names: new Set(entries.keys()), readStart: (name) => readStart(layout, directory.subarray(0, ENTRY_BYTES), entries.get(name)) };
}

async function readStart(layout: Layout, root: Buffer, entry: Buffer | undefined): Promise<Buffer> {
  const bytes = Math.min(entry?.readUInt32LE(120) ?? 0, SMALL_SECTOR_BYTES);
  if (entry === undefined || bytes === 0) return Buffer.alloc(0);
  const first = pointer(entry, 116);
  if (pointer(entry, 120) >= OWN_SECTORS_FROM) return (await readSector(layout, first)).subarray(0, bytes);
  const sectors = Math.floor((first * SMALL_SECTOR_BYTES) / layout.sectorBytes);
  if (sectors > SMALL_STREAMS_MAX) throw new EngineFailure('damaged');
  let sector = pointer(root, 116);
  for (let passed = 0; passed < sectors && sector < LAST_SECTOR; passed += 1) sector = await nextOf(layout, sector);
  if (sector >= LAST_SECTOR) throw new EngineFailure('damaged');
  const offset = (first * SMALL_SECTOR_BYTES) % layout.sectorBytes;
  return (await readSector(layout, sector)).subarray(offset, offset + bytes);
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
function entriesUnderRoot(directory: Buffer): ReadonlyMap<string, Buffer> {
  const entry = (index: number): Buffer => directory.subarray(index * ENTRY_BYTES, (index + 1) * ENTRY_BYTES);
  const entries = new Map<string, Buffer>();
  const seen = new Set<number>();
  const waiting = [pointer(entry(0), 76)];
  for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) {
    const bytes = entry(index);
    if (index === NO_ENTRY || seen.has(index) || bytes.length < ENTRY_BYTES) continue;
    seen.add(index);
    entries.set(bytes.toString('utf16le', 0, Math.max(0, Math.min(bytes.readUInt16LE(64), 64) - 2)).toLowerCase(), bytes);
    waiting.push(pointer(bytes, 68), pointer(bytes, 72));
  }
  return entries;
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
