import { promisify } from 'node:util';
import { fromBuffer, type Entry, type ZipFile } from 'yauzl';
import { EngineFailure } from '../../../failure.ts';

/** Files of one book: chapters, pictures, fonts. */
const ENTRIES_MAX = 10_000;

/** Bytes of all files of a book, unpacked; pictures in it are packed already. */
const UNPACKED_BYTES_MAX = 256 * 1024 * 1024;

/** How many times smaller an archive may be than what is in it; text is packed to a tenth. */
const RATIO_MAX = 200;

/** Below this, a high ratio is a small file and no attack. */
const SMALL_BYTES = 1024 * 1024;

/** The files of a book. Nothing is ever unpacked to a disk, so their names lead nowhere. */
export interface Archive {
  has(name: string): boolean;
  /** @throws EngineFailure `damaged` when there is no such file or it is not what the archive says. */
  read(name: string): Promise<Buffer>;
}

const openZip = promisify<Buffer, { lazyEntries: true; validateEntrySizes: true }, ZipFile>(fromBuffer);

/**
 * Opens the archive of a book, from its directory alone.
 * @throws EngineFailure `damaged` or `unpacks_too_large`.
 */
export async function openArchive(bytes: Buffer): Promise<Archive> {
  try {
    const zip = await openZip(bytes, { lazyEntries: true, validateEntrySizes: true });
    const entries = await readDirectory(zip, bytes.length);
    return { has: (name) => entries.has(name), read: (name) => readEntry(zip, entries.get(name)) };
  } catch (error) {
    if (error instanceof EngineFailure) throw error;
    throw new EngineFailure('damaged');
  }
}

function readDirectory(zip: ZipFile, archiveBytes: number): Promise<ReadonlyMap<string, Entry>> {
  if (zip.entryCount > ENTRIES_MAX) throw new EngineFailure('unpacks_too_large');
  const entries = new Map<string, Entry>();
  let unpacked = 0;
  return new Promise((resolve, reject) => {
    zip.on('error', reject);
    zip.on('end', () => resolve(entries));
    zip.on('entry', (entry: Entry) => {
      unpacked += entry.uncompressedSize;
      const bomb = unpacked > UNPACKED_BYTES_MAX || (unpacked > SMALL_BYTES && unpacked > archiveBytes * RATIO_MAX);
      if (bomb || entries.size >= ENTRIES_MAX) return reject(new EngineFailure('unpacks_too_large'));
      entries.set(entry.fileName, entry);
      zip.readEntry();
    });
    zip.readEntry();
  });
}

/** The library ends a stream with an error as soon as an entry is longer than the directory says. */
function readEntry(zip: ZipFile, entry: Entry | undefined): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const fail = (): void => reject(new EngineFailure('damaged'));
    if (entry === undefined || entry.isEncrypted()) return fail();
    zip.openReadStream(entry, (error, stream) => {
      if (error) return fail();
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('error', fail);
      stream.on('end', () => resolve(Buffer.concat(parts)));
    });
  });
}
