import { open } from 'node:fs/promises';

/** Tags whose value is one place in the file, or a list of them: the strips or tiles of the pixels. */
const PLACES: ReadonlySet<number> = new Set([273, 324]);

/** Bytes of one value by the type of a tag; a value of more than four bytes lies somewhere else. */
const TYPE_BYTES: Readonly<Record<number, number>> = { 1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8 };

const ENTRY_BYTES = 12;

/** Where the place of the first page stands. */
const FIRST_PAGE = 4;

/**
 * Writes one TIFF of several pages, given each as a TIFF of its own made by libvips: little-endian, one page. One after
 * the other, so that only one is in memory; pages may differ in size, which libvips itself does not write.
 */
export async function writeTiffPages(path: string, pages: AsyncIterable<Buffer>): Promise<void> {
  const file = await open(path, 'wx');
  try {
    let end = 0;
    let link = FIRST_PAGE;
    for await (const page of pages) {
      const directory = page.readUInt32LE(FIRST_PAGE);
      const moved = movePage(page, directory, end);
      await file.write(moved, 0, moved.length, end);
      if (end > 0) await file.write(uint32(end + directory), 0, 4, link);
      link = end + directory + 2 + ENTRY_BYTES * page.readUInt16LE(directory);
      // A directory begins at an even place.
      end += moved.length + (moved.length % 2);
    }
  } finally {
    await file.close();
  }
}

/** The page with all its places moved, for a file in which it begins at `start`. */
function movePage(page: Buffer, directory: number, start: number): Buffer {
  const moved = Buffer.from(page);
  const move = (at: number): void => void moved.writeUInt32LE(page.readUInt32LE(at) + start, at);
  for (let index = 0; index < page.readUInt16LE(directory); index += 1) {
    const entry = directory + 2 + ENTRY_BYTES * index;
    const [tag, type, count] = [page.readUInt16LE(entry), page.readUInt16LE(entry + 2), page.readUInt32LE(entry + 4)];
    const outside = count * (TYPE_BYTES[type] ?? 1) > 4;
    if (PLACES.has(tag)) {
      const list = outside ? page.readUInt32LE(entry + 8) : entry + 8;
      for (let place = 0; place < count; place += 1) move(list + 4 * place);
    }
    if (outside) move(entry + 8);
  }
  return moved;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
