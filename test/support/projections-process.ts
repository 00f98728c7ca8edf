import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { findProjectRoot } from '../../shared/tools/project-root.ts';

/** The projections as a process of their own, which a test can kill. */
export type ProjectionsProcess = {
  /** kill -9; answers when it is gone. */
  readonly kill: () => Promise<void>;
  /** SIGTERM; answers the exit code. */
  readonly stop: () => Promise<number | null>;
};

/** Starts `projections/main.ts` out of the sources and waits until it says that it is ready. */
export async function startProjectionsProcess(natsUrl: string, databaseUrl: string): Promise<ProjectionsProcess> {
  const child = spawn(process.execPath, ['--import=tsx', join(findProjectRoot(), 'projections/main.ts')], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: { PATH: process.env['PATH'], NATS_URL: natsUrl, DATABASE_URL: databaseUrl, LOG_LEVEL: 'silent' },
  });
  await Promise.race([once(child, 'message'), failOnExit(child)]);
  return {
    kill: async () => void (await end(child, 'SIGKILL')),
    stop: async () => end(child, 'SIGTERM'),
  };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
  return child.exitCode;
}

async function failOnExit(child: ChildProcess): Promise<never> {
  await once(child, 'exit');
  throw new Error(`the projections ended with code ${child.exitCode} before they were ready`);
}
