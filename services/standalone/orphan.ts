import { readFileSync } from 'node:fs';
import { isAlive, readCommandLine, waitFor } from './processes.ts';

/** Time for a server without clients to write its state and end; it usually needs milliseconds. */
const ORPHAN_STOP_LIMIT_MS = 10_000;
/** Time for the kernel to remove a process that was killed. */
const ORPHAN_KILL_LIMIT_MS = 5_000;

/** Which process a pid file names, and how it is told from a stranger that now has that number. */
export interface OrphanSearch {
  readonly pidFile: string;
  /** Part of the command line that only our server has: the path of its folder. */
  readonly mark: string;
  readonly stopSignal: NodeJS.Signals;
}

/**
 * Ends the server that a killed predecessor left running on the same folder, so that two never write there at once.
 * Ending it and starting our own takes milliseconds, and ours is tied to us again and has our settings.
 * @returns whether there was one.
 */
export async function endOrphan(search: OrphanSearch): Promise<boolean> {
  const pid = readPid(search.pidFile);
  if (pid === undefined || !isAlive(pid) || !readCommandLine(pid).includes(search.mark)) return false;
  process.kill(pid, search.stopSignal);
  const ended = (): true | undefined => (isAlive(pid) ? undefined : true);
  try {
    await waitFor(`the end of process ${pid}`, ORPHAN_STOP_LIMIT_MS, ended);
  } catch {
    process.kill(pid, 'SIGKILL');
    await waitFor(`the end of process ${pid}`, ORPHAN_KILL_LIMIT_MS, ended);
  }
  return true;
}

function readPid(file: string): number | undefined {
  try {
    const pid = Number.parseInt(readFileSync(file, 'utf8'), 10);
    return pid > 1 ? pid : undefined;
  } catch {
    return undefined;
  }
}
