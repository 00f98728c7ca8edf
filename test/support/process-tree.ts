import { spawnSync } from 'node:child_process';

/** A process of this machine. */
export type Process = { readonly pid: number; readonly ppid: number; readonly command: string };

/** All processes that run now; those that ended and only wait for their parent are left out. */
export function listProcesses(): readonly Process[] {
  const { stdout } = spawnSync('ps', ['-A', '-ww', '-o', 'pid=,ppid=,stat=,args='], { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  return stdout.split('\n').flatMap((line) => {
    const [, pid, ppid, state = 'Z', command = ''] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    return state.startsWith('Z') ? [] : [{ pid: Number(pid), ppid: Number(ppid), command }];
  });
}

/** State of a process as `ps` names it, `T` when it was stopped; empty when there is none. */
export function stateOf(pid: number): string {
  return spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).stdout.trim();
}

/** Everything that a process started, directly or not, and that still has its parent. */
export function descendantsOf(pid: number): readonly Process[] {
  const all = listProcesses();
  const found: Process[] = [];
  for (let parents = [pid]; parents.length > 0; ) {
    const children = all.filter(({ ppid }) => parents.includes(ppid));
    found.push(...children);
    parents = children.map((child) => child.pid);
  }
  return found;
}

/** Kills a process. What ended by itself since it was listed, as a sandbox does with its parent, is as good as killed. */
export function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
