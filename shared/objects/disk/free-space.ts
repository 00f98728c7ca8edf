import { statfs } from 'node:fs/promises';
import { TransientError } from '../../errors/errors.ts';

/** Room on the disk of the stored files, in bytes. */
export type DiskRoom = { readonly free_bytes: number; readonly total_bytes: number };

/** Looks how much room there is. */
export type RoomLook = () => Promise<DiskRoom>;

/** What stays free when no setting says otherwise: so much, or a tenth of a smaller disk. In bytes. */
const FLOOR_BYTES = 2 * 2 ** 30;
const FLOOR_SHARE = 0.1;
/** How long a look counts, in ms: other processes write to the same disk. */
const LOOK_COUNTS_MS = 500;
/** After so many bytes of our own the disk is looked at again, in bytes. */
const LOOK_AGAIN_BYTES = 8 * 2 ** 20;

/**
 * Keeps files from filling the disk. The log and the read models usually lie on the same one, and a log server that
 * once met a full disk takes no writes until it is restarted; so files stop while there is room left for all others.
 */
export class FreeSpace {
  readonly #lookAtDisk: RoomLook;
  readonly #floorBytes: number | undefined;
  #look: { readonly untilMs: number; readonly room: Promise<DiskRoom> } | undefined;
  #writtenSince = 0;

  /** `floorBytes` is what stays free; undefined chooses by the size of the disk. */
  constructor(lookAtDisk: RoomLook, floorBytes: number | undefined) {
    this.#lookAtDisk = lookAtDisk;
    this.#floorBytes = floorBytes;
  }

  /** Passes when so many more bytes leave the floor free. Throws `TransientError` (`storage`), or what the look throws. */
  async requireRoom(bytes: number): Promise<void> {
    if (!this.#look || this.#look.untilMs <= performance.now() || this.#writtenSince >= LOOK_AGAIN_BYTES) {
      this.#writtenSince = 0;
      this.#look = { untilMs: performance.now() + LOOK_COUNTS_MS, room: this.#lookAtDisk() };
    }
    const { free_bytes, total_bytes } = await this.#look.room;
    const floorBytes = this.#floorBytes ?? Math.min(FLOOR_BYTES, Math.floor(total_bytes * FLOOR_SHARE));
    if (free_bytes - this.#writtenSince - bytes < floorBytes) throw new TransientError('storage', 'the disk of stored files is full up to what must stay free');
  }

  /** Passes on what is about to be written, chunk by chunk while there is room. Throws what `requireRoom` throws. */
  async *whileRoom(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      await this.requireRoom(chunk.length);
      this.#writtenSince += chunk.length;
      yield chunk;
    }
  }
}

/** Room on the disk on which a folder lies, as a user other than root may use it. Throws the failed system call. */
export async function roomAt(folder: string): Promise<DiskRoom> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { free_bytes: bavail * bsize, total_bytes: blocks * bsize };
}
