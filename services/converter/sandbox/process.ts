import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { Writable, type Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { FILTER_DESCRIPTOR, type CommandLine } from './command.ts';
import { watchUsage, type Excess, type Watched } from './watch.ts';

/** How a confined process came to its end. */
export interface Exit {
  /** `exited`: by itself or by a signal of the system; `not_started`; all others: we killed it and all it started. */
  readonly cause: 'exited' | 'timeout' | 'aborted' | Excess | 'not_started';
  readonly code: number | null;
  /** The signal that ended it, also where a wrapper reported it as an exit code. */
  readonly signal: NodeJS.Signals | null;
  /** The end of what it wrote to stderr; for the operator, never for clients or events. */
  readonly stderrTail: string;
}

/** A running process of a job, leader of its own process group. */
export interface ConfinedProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Resolves once the process and all that holds its output are gone; never rejects. */
  readonly done: Promise<Exit>;
}

/** How and for how long a process runs. */
export interface RunBounds {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Wall-clock time it may take, milliseconds. */
  readonly timeLimitMs: number;
  /** What it and all it starts may use together, besides the limits that the system keeps. */
  readonly together: Omit<Watched, 'pid' | 'folder'>;
  readonly signal?: AbortSignal;
}

/** Characters of stderr that are kept: the first sentence of a loader error fits. */
const STDERR_TAIL_MAX = 2_000;

/** Milliseconds that output pipes may stay open after the end, when something escaped from the process group. */
const DRAIN_MS = 2_000;

/** Shells and bubblewrap report death by signal n as exit code 128 + n. */
const SIGNAL_EXIT_BASE = 128;

/** Starts a command as the leader of a process group and kills the whole group at its end, time limit or abort. */
export function startConfined(line: CommandLine, bounds: RunBounds): ConfinedProcess {
  const stdio = ['pipe', 'pipe', 'pipe', ...(line.filter === undefined ? [] : (['pipe'] as const))] satisfies StdioOptions;
  const child = spawn(line.command, line.args, { cwd: bounds.cwd, env: bounds.env, stdio, detached: true, shell: false });
  // A process that dies before it has read its input is reported by its exit, not by a broken pipe.
  child.stdin.on('error', () => undefined);
  giveFilter(child, line.filter);
  return { stdin: child.stdin, stdout: child.stdout, done: waitForEnd(child, bounds) };
}

function giveFilter(child: ChildProcess, filter: Buffer | undefined): void {
  const pipe = child.stdio[FILTER_DESCRIPTOR];
  if (filter === undefined || !(pipe instanceof Writable)) return;
  pipe.on('error', () => undefined);
  pipe.end(filter);
}

async function waitForEnd(child: ChildProcess, { cwd, timeLimitMs, together, signal }: RunBounds): Promise<Exit> {
  let cause: Exit['cause'] = 'exited';
  const stop = (why: Exit['cause']): void => {
    cause = why;
    killGroup(child);
  };
  const onAbort = (): void => stop('aborted');
  const timer = setTimeout(() => stop('timeout'), timeLimitMs);
  signal?.addEventListener('abort', onAbort, { once: true });
  const ended = new AbortController();
  if (child.pid !== undefined) void watchUsage({ ...together, pid: child.pid, folder: cwd }, ended.signal, stop);
  let stderrTail = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderrTail = (stderrTail + text).slice(-STDERR_TAIL_MAX);
  });
  if (signal?.aborted === true) onAbort();
  try {
    await once(child, 'exit');
  } catch (error) {
    return { cause: 'not_started', code: null, signal: null, stderrTail: String(error) };
  } finally {
    clearTimeout(timer);
    ended.abort();
    signal?.removeEventListener('abort', onAbort);
    killGroup(child);
  }
  await drainOutput(child);
  return { cause, code: child.exitCode, signal: child.signalCode ?? signalOfExitCode(child.exitCode), stderrTail };
}

async function drainOutput(child: ChildProcess): Promise<void> {
  const streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
  const timer = setTimeout(() => streams.forEach((stream) => stream.destroy()), DRAIN_MS);
  await Promise.allSettled(streams.map((stream) => finished(stream)));
  clearTimeout(timer);
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // Nobody of the group is left.
  }
}

function signalOfExitCode(code: number | null): NodeJS.Signals | null {
  if (code === null || code <= SIGNAL_EXIT_BASE) return null;
  const found = Object.entries(constants.signals).find(([, number]) => number === code - SIGNAL_EXIT_BASE);
  return found === undefined ? null : (found[0] as NodeJS.Signals);
}
