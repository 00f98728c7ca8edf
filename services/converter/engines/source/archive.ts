import type { FileHandle } from 'node:fs/promises';
import { constants, inflateRawSync } from 'node:zlib';
import { fromRandomAccessReaderPromise, type Entry, type ZipFile } from 'yauzl';
import { EngineFailure } from '../failure.ts';
import { findFault, MEMBERS_MAX, type ListedMember } from './archive-rules.ts';
import { WindowedFile, WindowReader } from './windows.ts';

/** Compressed bytes that are read to see how a member begins; markup of a few kB is in them. */
const START_COMPRESSED_BYTES = 1_024;
/** What these may unpack to at the very most. */
const START_UNPACKED_MAX = 1_032 * START_COMPRESSED_BYTES;

/** Largest member that is read as a whole, bytes unpacked: lists of what else is in the archive. */
const WHOLE_BYTES_MAX = 2 * 1024 * 1024;

/** What the end of an archive begins with, its length without a comment, and how far before the end of the file it may be. */
const END_MARK = Buffer.from('PK\x05\x06', 'latin1');
const END_BYTES = 22;
const END_SEARCHED_BYTES = 66_000;

/** Methods by which members of documents are packed. */
const STORED = 0;
const DEFLATED = 8;

/** Who made an entry, and how Unix marks a symbolic link among its attributes. */
const MADE_BY_UNIX = 3;
const TYPE_MASK = 0xf000;
const SYMBOLIC_LINK = 0xa000;

/** An archive whose list of members was read and is in order. */
export interface Archive {
  /** Names of all members; folders end with a slash. */
  readonly names: readonly string[];
  /** The first few kB of a member, unpacked; undefined when there is none of that name, in any case. Throws EngineFailure `damaged`. */
  readStart(name: string): Promise<Buffer | undefined>;
  /** All of a member that is a list of others; as `readStart`, and `damaged` when it is larger than any such list. */
  readWhole(name: string): Promise<Buffer | undefined>;
  /** A member piece by piece, which is never unpacked further than its list says. Throws EngineFailure `damaged`. */
  readPieces(name: string): AsyncIterable<Buffer>;
  /** How large its list says that a member is, unpacked; reading it ends there. */
  unpackedBytes(name: string): number;
}

/**
 * Reads the list of an archive, without unpacking anything: too many members, too much in them, members that share
 * bytes, names that lead elsewhere, links and encryption are refused. The file stays open for its owner to close.
 * @throws EngineFailure `damaged` or `unpacks_too_large`.
 */
export async function readArchive(handle: FileHandle): Promise<Archive> {
  const file = new WindowedFile(handle);
  const size = await findEnd(file, (await handle.stat()).size);
  const zip = await openList(file, size);
  const entries = await listEntries(zip);
  const fault = findFault(entries.map(listed), size);
  if (fault !== undefined) throw new EngineFailure(fault);
  const byName = new Map(entries.map((entry) => [entry.fileName.toLowerCase(), entry]));
  return {
    names: entries.map(({ fileName }) => fileName),
    readStart: async (name) => {
      const entry = byName.get(name.toLowerCase());
      return entry && unpackStart(await readPacked(file, entry, START_COMPRESSED_BYTES), entry);
    },
    readWhole: async (name) => {
      const entry = byName.get(name.toLowerCase());
      if (entry === undefined) return undefined;
      if (entry.uncompressedSize > WHOLE_BYTES_MAX || entry.compressedSize > WHOLE_BYTES_MAX) throw new EngineFailure('damaged');
      return unpack(await readPacked(file, entry, entry.compressedSize), entry, WHOLE_BYTES_MAX, constants.Z_FINISH);
    },
    readPieces: async function* (name) {
      const entry = byName.get(name.toLowerCase());
      if (entry !== undefined) yield* unpackPieces(zip, entry);
    },
    unpackedBytes: (name) => byName.get(name.toLowerCase())?.uncompressedSize ?? 0,
  };
}

/** Where the archive ends: some programs, and some transfers, leave a few bytes after it. */
async function findEnd(file: WindowedFile, size: number): Promise<number> {
  const start = Math.max(0, size - END_SEARCHED_BYTES);
  const tail = await file.read(start, size - start);
  const at = tail.lastIndexOf(END_MARK);
  if (at === -1 || at + END_BYTES > tail.length) throw new EngineFailure('damaged', 'it has no end');
  return Math.min(size, start + at + END_BYTES + tail.readUInt16LE(at + END_BYTES - 2));
}

function openList(file: WindowedFile, size: number): Promise<ZipFile> {
  // The names are checked by the library: none is absolute, climbs up, or has a backslash.
  return damagedUnless(fromRandomAccessReaderPromise(new WindowReader(file), size, { autoClose: false, strictFileNames: true }));
}

async function listEntries(zip: ZipFile): Promise<Entry[]> {
  if (zip.entryCount > MEMBERS_MAX) throw new EngineFailure('unpacks_too_large');
  return damagedUnless(collect(zip.eachEntry()));
}

async function collect(each: AsyncIterable<Entry>): Promise<Entry[]> {
  const entries: Entry[] = [];
  for await (const entry of each) entries.push(entry);
  return entries;
}

async function damagedUnless<Result>(reading: Promise<Result>): Promise<Result> {
  try {
    return await reading;
  } catch (error) {
    throw new EngineFailure('damaged', String(error));
  }
}

async function* unpackPieces(zip: ZipFile, entry: Entry): AsyncGenerator<Buffer> {
  const stream = await damagedUnless(zip.openReadStreamPromise(entry));
  try {
    for await (const piece of stream) if (piece instanceof Uint8Array) yield Buffer.from(piece);
  } catch (error) {
    throw new EngineFailure('damaged', String(error));
  }
}

function listed(entry: Entry): ListedMember {
  return {
    name: entry.fileName,
    offset: entry.relativeOffsetOfLocalHeader,
    compressedBytes: entry.compressedSize,
    unpackedBytes: entry.uncompressedSize,
    encrypted: entry.isEncrypted(),
    symbolicLink: entry.versionMadeBy >> 8 === MADE_BY_UNIX && ((entry.externalFileAttributes >>> 16) & TYPE_MASK) === SYMBOLIC_LINK,
  };
}

const LOCAL_HEADER_BYTES = 30;

/** The first `bytesMax` packed bytes of a member; its name and extra fields may be longer before it than in the list. */
async function readPacked(file: WindowedFile, entry: Entry, bytesMax: number): Promise<Buffer> {
  const header = await file.read(entry.relativeOffsetOfLocalHeader, LOCAL_HEADER_BYTES);
  if (header.length < LOCAL_HEADER_BYTES || header.readUInt32LE(0) !== 0x04034b50) throw new EngineFailure('damaged');
  const start = entry.relativeOffsetOfLocalHeader + LOCAL_HEADER_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28);
  return file.read(start, Math.min(bytesMax, entry.compressedSize));
}

function unpackStart(packed: Buffer, entry: Entry): Buffer {
  return unpack(packed, entry, START_UNPACKED_MAX, constants.Z_SYNC_FLUSH);
}

function unpack(packed: Buffer, { compressionMethod }: Entry, bytesMax: number, finishFlush: number): Buffer {
  if (compressionMethod === STORED) return packed;
  if (compressionMethod !== DEFLATED) throw new EngineFailure('damaged');
  try {
    return inflateRawSync(packed, { finishFlush, maxOutputLength: bytesMax });
  } catch (error) {
    throw new EngineFailure('damaged', String(error));
  }
}
