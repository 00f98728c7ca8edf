import { spawn, spawnSync, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { findTool } from '../../shared/tools/find-tool.ts';

/** Between two looks at a condition we wait for: short beside the 50 ms in which the servers start. */
const POLL_MS = 15;

/** The ordinary user as whom a program runs that refuses to run as root. */
export interface Identity {
  readonly uid: number;
  readonly gid: number;
  /** Lets it walk through folders that are closed to it, such as root's home; only root can give that, with setpriv. */
  readonly walksAnywhere?: boolean;
}

/** The one capability that walks through closed folders; the program keeps no other power of root's. */
const WALK_ANYWHERE = ['--securebits', '+no_setuid_fixup', '--inh-caps', '+dac_read_search', '--ambient-caps', '+dac_read_search'];

/** How a child is tied to us: the signal it gets from the kernel when we die, and as whom it runs. */
export interface Tie {
  readonly onParentDeath: NodeJS.Signals;
  readonly identity?: Identity | undefined;
}

/**
 * Starts a program in a process group of its own (a Ctrl-C in the terminal reaches only us, and we end our children
 * in order) that does not outlive us even when we are killed, where `setpriv` offers that (Linux).
 */
export function spawnTied(program: string, args: readonly string[], tie: Tie, options: SpawnOptions): ChildProcess {
  const tied = tieCommand(program, args, tie);
  return spawn(tied.command, tied.args, { ...options, ...tied.identity, detached: true });
}

/** A command that is tied, for callers that start it in their own way; `identity` is what is left for Node to do. */
export interface TiedCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly identity: { readonly uid: number; readonly gid: number } | undefined;
}

/** The command that runs a program as `tie` says. */
export function tieCommand(program: string, args: readonly string[], tie: Tie): TiedCommand {
  const setpriv = findSetpriv();
  const { identity } = tie;
  if (setpriv === undefined) return { command: program, args, identity: identity === undefined ? undefined : { uid: identity.uid, gid: identity.gid } };
  const drop = identity === undefined ? [] : ['--reuid', `${identity.uid}`, '--regid', `${identity.gid}`, '--clear-groups', ...(identity.walksAnywhere === true ? WALK_ANYWHERE : [])];
  return { command: setpriv, args: [...drop, '--pdeathsig', tie.onParentDeath.slice('SIG'.length), '--', program, ...args], identity: undefined };
}

/** True when root can let a program of that identity walk through the closed folders on the way to `path`. */
export function canWalkAnywhere(path: string, identity: Identity): boolean {
  const tied = tieCommand('test', ['-e', path], { onParentDeath: 'SIGTERM', identity: { ...identity, walksAnywhere: true } });
  return tied.identity === undefined && spawnSync(tied.command, tied.args, { stdio: 'ignore', cwd: '/' }).status === 0;
}

let setprivPath: string | undefined | null = null;

/** The setpriv of util-linux; the one of BusyBox does not know `--pdeathsig`, so it is tried once. */
function findSetpriv(): string | undefined {
  if (setprivPath !== null) return setprivPath;
  const found = process.platform === 'linux' ? findTool('setpriv', undefined) : undefined;
  const works = found !== undefined && spawnSync(found, ['--pdeathsig', 'TERM', '--', 'true'], { stdio: 'ignore' }).status === 0;
  setprivPath = works ? found : undefined;
  return setprivPath;
}

/** True while the process runs. A zombie, which only waits for a parent that does not reap, has ended. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
  if (process.platform !== 'linux') return true;
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** The command line of a process, '' when there is none; tells a program of ours from a stranger with a reused pid. */
export function readCommandLine(pid: number): string {
  if (process.platform === 'linux') {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    } catch {
      return '';
    }
  }
  return spawnSync('ps', ['-p', String(pid), '-o', 'command='], { encoding: 'utf8' }).stdout ?? '';
}

/**
 * Waits until `check` gives a value other than undefined and returns it.
 * @throws Error naming `what` when that takes longer than `limitMs`.
 */
export async function waitFor<T>(what: string, limitMs: number, check: () => Promise<T | undefined> | T | undefined): Promise<T> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const value = await check();
    if (value !== undefined) return value;
    if (performance.now() > deadline) throw new Error(`${what} took longer than ${limitMs} ms`);
    await sleep(POLL_MS);
  }
}
