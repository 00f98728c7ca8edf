import { constants } from 'node:fs';
import { chmod, chown, link, lstat, mkdir, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { JobDir } from '../../sandbox/command.ts';
import { EngineFailure } from '../failure.ts';

/** A folder of one job inside the folder of a worker. */
export interface HandedOver {
  /** Moves the result into the job's own folder. @throws EngineFailure `engine_crashed` when there is no plain file. */
  takeBack(result: string): Promise<void>;
  /** To be called in any case. */
  close(): Promise<void>;
}

/**
 * Makes a folder for one job inside a worker's folder and links the source into it. Nothing here follows a link that a
 * worker could have made: the folder is held open, and every path goes through that handle.
 */
export async function handOver(worker: JobDir, folder: string, job: JobDir, source: string): Promise<HandedOver> {
  const path = join(worker.path, folder);
  await mkdir(path, { mode: 0o700 });
  if (worker.uid !== undefined) await chown(path, worker.uid, worker.uid);
  const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  const inside = `/proc/self/fd/${handle.fd}`;
  try {
    await linkSource(join(job.path, source), join(inside, source));
  } catch (error) {
    await handle.close();
    throw error;
  }
  return { takeBack: (result) => takeBack(join(inside, result), join(job.path, result), worker), close: () => handle.close() };
}

/** The source may have been made by another program of the same job, so it is looked at before the worker may read it. */
async function linkSource(from: string, to: string): Promise<void> {
  const file = await open(from, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if (!(await file.stat()).isFile()) throw new EngineFailure('engine_crashed', 'the source is no plain file');
    await file.chmod(0o644);
  } finally {
    await file.close();
  }
  await link(from, to);
}

/** Checked where the worker cannot reach it any more: it is moved first. */
async function takeBack(from: string, to: string, { uid }: JobDir): Promise<void> {
  await rename(from, to).catch((cause: unknown) => {
    throw new EngineFailure('engine_crashed', `it left no result: ${String(cause)}`);
  });
  const found = await lstat(to);
  const proper = found.isFile() && found.nlink === 1 && (uid === undefined || found.uid === uid);
  if (!proper) throw new EngineFailure('engine_crashed', 'it left no proper result');
  // Further programs of the job run as another user.
  await chmod(to, 0o644);
}
