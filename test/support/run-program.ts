import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { findProjectRoot } from '../../shared/tools/project-root.ts';

/** How a program ended, and all it said. */
export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

/** Far longer than any command takes, also on a busy machine. */
const PROGRAM_LIMIT_MS = 120_000;

/** Runs a program to its end with exactly this environment, besides PATH and HOME. */
export async function runProgram(command: string, args: readonly string[], options: { readonly cwd?: string; readonly environment?: Readonly<Record<string, string>> } = {}): Promise<Ended> {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(command, args, {
    cwd: options.cwd ?? findProjectRoot(),
    env: { PATH, HOME, ...options.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: PROGRAM_LIMIT_MS,
    killSignal: 'SIGKILL',
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const code = await new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve));
  return { code, stdout, stderr };
}

/** Runs one of the commands in `services/cli` as npm does. */
export function runCommand(name: 'admin' | 'audit' | 'convert' | 'listen' | 'projections' | 'streams', args: readonly string[], environment: Readonly<Record<string, string>>): Promise<Ended> {
  return runProgram(process.execPath, ['--import', 'tsx', join('services/cli', `${name}.ts`), ...args], { environment });
}
