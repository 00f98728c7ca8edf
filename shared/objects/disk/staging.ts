import { randomUUID } from 'node:crypto';
import { link, mkdir, open, opendir, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Clock } from '../../clock/clock.ts';
import { ConfigurationError, TransientError } from '../../errors/errors.ts';
import type { ObjectRecord, WriteLimits } from '../object-store.ts';
import { copyBody, localBytes, receivedBytes } from './copy-body.ts';
import type { FreeSpace } from './free-space.ts';
import { systemCode, unless } from './storage-error.ts';
import { encodeTrailer } from './trailer.ts';

/**
 * A temporary file that nobody wrote to for so long is left over from a process that died, in ms: half an hour. A body
 * that stands still is given up after a minute at the latest, and syncing the largest file takes a slow disk minutes.
 */
export const STAGED_KEEP_MS = 1_800_000;
/** How often what is left over is looked for, in ms: what a client has deleted does not stay for long. */
export const SWEEP_EVERY_MS = 900_000;
/** How often the target's folder is made anew when somebody removes it as empty at the same moment. */
const FOLDER_ATTEMPTS_MAX = 5;

/** A complete file, on disk, that no reader can see yet. */
export type StagedFile = { readonly path: string; readonly record: ObjectRecord };

/** Folder of files that are being written, on the filesystem of the store, so that publishing is one system call. */
export class Staging {
  readonly #folder: string;
  readonly #space: FreeSpace;

  constructor(folder: string, space: FreeSpace) {
    this.#folder = folder;
    this.#space = space;
  }

  /** Makes the folder. Throws `ConfigurationError` when the filesystem has no hard links: the first upload could not win. */
  async prepare(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const path = this.newPath();
    try {
      await (await open(path, 'wx', 0o600)).close();
      await link(path, `${path}.link`);
    } catch (error) {
      const code = systemCode(error);
      if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'ENOSYS') throw error;
      throw new ConfigurationError(['DATA_DIR: stored files need a filesystem with hard links, and this one has none']);
    } finally {
      await rm(`${path}.link`, { force: true });
      await rm(path, { force: true });
    }
  }

  /**
   * Writes a body with its description into a new file and syncs it. Leaves nothing behind when it throws. Throws
   * `TransientError` before it begins, or as soon as it is so, when too little of the disk would stay free.
   */
  async stage(source: Readable | string, limits: WriteLimits): Promise<StagedFile> {
    const body = typeof source === 'string' ? localBytes(source) : receivedBytes(source);
    return await this.stageBy(limits.expectedBytes ?? 0, (file, space) => copyBody(space.whileRoom(body), file, limits));
  }

  /** Does the same with what `write` puts into the new file, which is at least `expectedBytes` long. */
  async stageBy(expectedBytes: number, write: (file: FileHandle, space: FreeSpace) => Promise<ObjectRecord>): Promise<StagedFile> {
    await this.#space.requireRoom(expectedBytes);
    const path = this.newPath();
    const file = await open(path, 'wx', 0o600);
    try {
      const record = await write(file, this.#space);
      await file.writeFile(encodeTrailer(record));
      await file.sync();
      return { path, record };
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    } finally {
      await file.close();
    }
  }

  /** Removes what dead processes left over, and answers how many files and folders that was. */
  async sweep(nowMs: number): Promise<number> {
    let removed = 0;
    for await (const entry of await opendir(this.#folder)) {
      const path = join(this.#folder, entry.name);
      // Another process may finish or sweep the same file meanwhile.
      const found = await unless(['ENOENT'], stat(path));
      if (!found || nowMs - found.mtimeMs < STAGED_KEEP_MS) continue;
      await rm(path, { recursive: true, force: true });
      removed += 1;
    }
    return removed;
  }

  /** Sweeps again and again while the process lives, and keeps it alive for nothing. */
  sweepOnAndOn(clock: Clock, everyMs: number): void {
    // A folder that is away is what `probe` tells; the next round comes in any case.
    setInterval(() => void this.sweep(clock.nowMs()).catch(() => undefined), everyMs).unref();
  }

  /** A name that nobody else has, for a file or folder that is swept when its process dies. */
  newPath(): string {
    return join(this.#folder, randomUUID());
  }
}

/** Publishes a staged file where there is none. False when there is one already; the staged file is gone either way. */
export async function publishFirst(staged: string, target: string): Promise<boolean> {
  try {
    await inFolderOf(target, () => link(staged, target));
    return true;
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
    return false;
  } finally {
    await rm(staged, { force: true });
  }
}

/** Publishes a staged file in the place of what was there. */
export async function publishOver(staged: string, target: string): Promise<void> {
  try {
    await inFolderOf(target, () => rename(staged, target));
  } finally {
    await rm(staged, { force: true });
  }
}

/** Publishes a staged file in a folder that must be there. False when it is not; the staged file is gone either way. */
export async function publishInto(staged: string, target: string): Promise<boolean> {
  try {
    return (await unless(['ENOENT'], rename(staged, target).then(() => true))) === true;
  } finally {
    await rm(staged, { force: true });
  }
}

/** Makes a name that was made or removed in a folder durable. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The folder may be removed as empty between making and using it. */
async function inFolderOf(target: string, publish: () => Promise<void>): Promise<void> {
  for (let attempt = 1; attempt <= FOLDER_ATTEMPTS_MAX; attempt += 1) {
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    try {
      return await publish();
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') throw error;
    }
  }
  throw new TransientError('storage', 'the folder of a stored file disappears again and again');
}
