import type { ChildProcess } from 'node:child_process';

/** One run of a program that we started: a database, a message server or one of our own services. */
export interface ServerRun {
  readonly pid: number;
  /** Settles when the program has ended, for whatever reason, with a few words that say how. */
  readonly exited: Promise<RunEnd>;
  /** Asks the program to finish and waits; what has not ended after its grace is killed. */
  stop(): Promise<void>;
  /** Ends the program at once, without a chance to clean up, and waits for the end. */
  kill(): Promise<void>;
}

/** How a run ended. `code` is null when a signal ended it. */
export interface RunEnd {
  readonly code: number | null;
  readonly description: string;
}

/** Turns a child process into a run that is stopped by `stopSignal` and killed after `graceMs`. */
export function runOf(child: ChildProcess, stopSignal: NodeJS.Signals, graceMs: number): ServerRun {
  const exited = new Promise<RunEnd>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, description: signal === null ? `exit code ${code}` : `signal ${signal}` }));
    child.once('error', (error) => resolve({ code: null, description: error.message }));
  });
  const pid = child.pid ?? 0;
  return {
    pid,
    exited,
    stop: async () => {
      child.kill(stopSignal);
      const timer = setTimeout(() => killGroup(child), graceMs);
      await exited;
      clearTimeout(timer);
    },
    kill: async () => {
      killGroup(child);
      await exited;
    },
  };
}

/** Our children lead their own process group, so that nothing they started in it is left behind. */
function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The group is gone or the child never became its leader: then the child alone is meant.
    child.kill('SIGKILL');
  }
}
