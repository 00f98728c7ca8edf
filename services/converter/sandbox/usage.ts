import { readdirSync, readFileSync } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';

/** Bytes of one block, as `stat` counts them. */
const BLOCK_BYTES = 512;

/** Files and folders that one folder may hold; nothing that we run leaves more than a few hundred. */
const ENTRIES_MAX = 10_000;

/** Processes of one tree that are looked at; a job's user may have fewer. */
const PROCESSES_MAX = 1_000;

/**
 * Bytes on disk of all that lies in a folder; infinite when it holds more files than anything honest, or hides some
 * from us. No link is followed.
 */
export async function measureFolder(path: string): Promise<number> {
  let [bytes, entries] = [0, 0];
  const waiting = [path];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    try {
      for await (const { name } of await opendir(folder)) {
        entries += 1;
        if (entries > ENTRIES_MAX) return Infinity;
        const found = await lstat(join(folder, name));
        bytes += found.blocks * BLOCK_BYTES;
        if (found.isDirectory()) waiting.push(join(folder, name));
      }
    } catch (error) {
      // What went away meanwhile is no longer there to be counted.
      if (!hasCode(error, 'ENOENT') && !hasCode(error, 'ENOTDIR')) return Infinity;
    }
  }
  return bytes;
}

/**
 * Memory of a process and all that it started, bytes: their own, and what they share, which no limit of a single
 * process counts. Zero where the system does not tell.
 */
export function measureMemory(pid: number): number {
  const seen = new Set<number>();
  const waiting = [pid];
  let bytes = 0;
  for (let next = waiting.pop(); next !== undefined && seen.size < PROCESSES_MAX; next = waiting.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    bytes += memoryOf(next);
    waiting.push(...childrenOf(next));
  }
  return bytes;
}

function memoryOf(pid: number): number {
  const status = readOrEmpty(`/proc/${pid}/status`);
  return [...status.matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm)].reduce((sum, [, kilobytes]) => sum + Number(kilobytes) * 1024, 0);
}

/** Those that each of its threads has started. */
function childrenOf(pid: number): readonly number[] {
  const threads = listOrEmpty(`/proc/${pid}/task`);
  return threads.flatMap((thread) => readOrEmpty(`/proc/${pid}/task/${thread}/children`).split(' ').map(Number).filter((child) => child > 0));
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function listOrEmpty(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
