import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { RandomAccessReader } from 'yauzl';

/** Bytes that are read at once: the list of an archive is read in steps of some fifty. */
const WINDOW_BYTES = 65_536;

/** A file of which many small pieces are read, most of them near the one before. */
export class WindowedFile {
  readonly #file: FileHandle;
  #start = 0;
  #window: Buffer = Buffer.alloc(0);

  constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Up to `bytes` bytes from `position`; fewer at the end of the file. */
  async read(position: number, bytes: number): Promise<Buffer> {
    const offset = position - this.#start;
    if (offset >= 0 && offset + bytes <= this.#window.length) return this.#window.subarray(offset, offset + bytes);
    const size = Math.max(bytes, WINDOW_BYTES);
    const { buffer, bytesRead } = await this.#file.read(Buffer.alloc(size), 0, size, position);
    this.#start = position;
    this.#window = buffer.subarray(0, bytesRead);
    return this.#window.subarray(0, bytes);
  }
}

/** Lets yauzl read through a window. */
export class WindowReader extends RandomAccessReader {
  readonly #file: WindowedFile;

  constructor(file: WindowedFile) {
    super();
    this.#file = file;
  }

  override read(buffer: Buffer, offset: number, length: number, position: number, callback: (error: Error | null, bytesRead?: number) => void): void {
    this.#file.read(position, length).then(
      (bytes) => callback(null, bytes.copy(buffer, offset)),
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error))),
    );
  }

  /** Members are read as streams only to be looked through; each piece is one window. */
  override _readStreamForRange(start: number, end: number): Readable {
    return Readable.from(this.#pieces(start, end), { objectMode: false });
  }

  async *#pieces(start: number, end: number): AsyncGenerator<Buffer> {
    for (let position = start; position < end; ) {
      const bytes = await this.#file.read(position, Math.min(WINDOW_BYTES, end - position));
      if (bytes.length === 0) return;
      yield bytes;
      position += bytes.length;
    }
  }
}
