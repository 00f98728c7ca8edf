import { statfs } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Limits } from './command.ts';
import { measureFolder, measureMemory } from './usage.ts';

/** What a process and all that it started used too much of: memory, its folder, or the last of the disk. */
export type Excess = 'over_memory' | 'over_folder' | 'disk_short';

/** What is watched. */
export interface Watched {
  readonly pid: number;
  readonly folder: string;
  readonly memoryBytesMax: number;
  /** Growth of the folder while the process runs. */
  readonly folderBytesMax: number;
  /** What must stay free on the folder's disk, unless it was not when the process began. */
  readonly freeBytesMin: number;
}

/** Between two looks, milliseconds: a second of writing or of taking memory is what may go beyond a limit. */
const LOOK_EVERY_MS = 1_000;

/** Some programs have a helper beside them, which has memory of its own. */
const MEMORY_SHARE = 1.5;

/** A folder may hold the source, the result, and something between, each as large as a file may be. */
const LARGEST_FILES = 3;

/** What a conversion must leave of a disk, bytes: the log and the store may lie on it, and break when it is full. */
const FREE_BYTES_MIN = 256 * 1024 ** 2;

/** What limits of one process mean for all processes of a job together. */
export function limitsTogether({ memoryBytesMax, fileBytesMax }: Limits): Pick<Watched, 'memoryBytesMax' | 'folderBytesMax' | 'freeBytesMin'> {
  return { memoryBytesMax: memoryBytesMax * MEMORY_SHARE, folderBytesMax: fileBytesMax * LARGEST_FILES, freeBytesMin: FREE_BYTES_MIN };
}

/**
 * Looks again and again at what the system bounds for single processes and files only: memory that is shared, memory of
 * many processes, many files, and files that have no name any more. Calls `onExcess` at most once.
 */
export async function watchUsage(watched: Watched, signal: AbortSignal, onExcess: (excess: Excess) => void): Promise<void> {
  const { pid, folder } = watched;
  const [bytesBefore, freeBefore] = await Promise.all([measureFolder(folder), freeBytes(folder)]);
  while (!signal.aborted) {
    if (measureMemory(pid) > watched.memoryBytesMax) return onExcess('over_memory');
    if ((await measureFolder(folder)) - bytesBefore > watched.folderBytesMax) return signal.aborted ? undefined : onExcess('over_folder');
    const free = await freeBytes(folder);
    if (free < watched.freeBytesMin && freeBefore >= watched.freeBytesMin) return signal.aborted ? undefined : onExcess('disk_short');
    await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** Infinite where the system does not tell. */
async function freeBytes(folder: string): Promise<number> {
  const found = await statfs(folder).catch(() => undefined);
  return found === undefined ? Infinity : found.bavail * found.bsize;
}
