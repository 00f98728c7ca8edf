import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isProcessRunning } from '../../../shared/lifecycle/is-process-running.ts';

/** The machine is part of the name, because containers may share a folder but not their process ids. */
const MACHINE = hostname().replaceAll(/[^A-Za-z0-9.]/g, '_');
/** Tells this process from one before it that had the same id, which in a container is the rule. */
const TOKEN = randomBytes(4).toString('hex');
const NAME = /^job-(.+)-(\d+)-([0-9a-f]{8})-[^-]+$/;

/** Makes an empty folder for one job whose name tells to which process it belongs. */
export function makeJobFolder(scratchDir: string): Promise<string> {
  return mkdtemp(join(scratchDir, `job-${MACHINE}-${process.pid}-${TOKEN}-`));
}

/**
 * Removes a job's folder whatever a program has put there. Deeper than a path may be long, only the system's own `rm`
 * gets; it goes step by step.
 */
export async function removeJobFolder(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENAMETOOLONG')) throw error;
    await promisify(execFile)('rm', ['-rf', '--', path]);
  }
}

/** Removes what processes of this machine that were killed left behind: files of clients, which nobody else removes. */
export async function removeLeftFolders(scratchDir: string): Promise<void> {
  for (const name of await readdir(scratchDir)) {
    const [, machine, pid, token] = NAME.exec(name) ?? [];
    if (machine !== MACHINE || (Number(pid) === process.pid ? token === TOKEN : isProcessRunning(Number(pid)))) continue;
    // One of another user's converter is not ours to remove.
    await removeJobFolder(join(scratchDir, name)).catch(() => undefined);
  }
}
