import { spawn, type ChildProcess } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '../../services/standalone/processes.ts';
import { findProjectRoot } from '../../shared/tools/project-root.ts';

/** Far longer than any step takes, also where PostgreSQL alone needs ten seconds; a test that hits it has failed. */
const LINE_LIMIT_MS = 100_000;

/** A stand-in for a service: ready at once, says when it stops, and answers /readyz when it is the api. */
const OBEDIENT = `
import { createServer } from 'node:http';
import { basename } from 'node:path';
const name = basename(process.argv[1], '.mjs');
const say = (line) => process.stdout.write(name + ' ' + line + '\\n');
const end = (why) => { say('stops: ' + why); process.exit(0); };
process.once('SIGTERM', () => end('SIGTERM'));
process.once('disconnect', () => end('alone'));
if (name === 'api') createServer((request, response) => response.end('ok')).listen(Number(process.env.PORT), '127.0.0.1');
else setInterval(() => {}, 1000);
say('runs as ' + process.pid);
process.send({ type: 'ready' });
`;

/** Scripts of stand-in services in a folder of their own, by name in the order of stopping. */
export type Stand = { readonly folder: string; readonly entries: readonly string[]; remove(): Promise<void> };

/** Writes stand-ins named `names`; `scripts` replaces the usual one by name. */
export async function makeStand(names: readonly string[], scripts: Readonly<Record<string, string>> = {}): Promise<Stand> {
  const folder = await mkdtemp(join(tmpdir(), 'test-edition-'));
  await chmod(folder, 0o711);
  const entries = names.map((name) => join(folder, `${name}.mjs`));
  await Promise.all(names.map((name, index) => writeFile(entries[index] ?? '', scripts[name] ?? OBEDIENT)));
  return { folder, entries, remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }) };
}

/** The standalone edition as a process of its own. */
export interface EditionProcess {
  readonly child: ChildProcess;
  readonly pid: number;
  /** All it has said so far, both streams. */
  output(): string;
  /** Waits until it has said something that matches, at or after character `from`. */
  until(pattern: RegExp, from?: number): Promise<RegExpExecArray>;
  /** Waits for its end and returns the exit code; null after a kill. */
  ended(): Promise<number | null>;
}

/** Starts the edition with the stand-ins, on any free port, with its data below the folder of the stand-ins. */
export function startEditionProcess(stand: Stand, environment: Readonly<Record<string, string>> = {}): EditionProcess {
  const main = join(findProjectRoot(), 'test/support/fake-edition.ts');
  const child = spawn(process.execPath, ['--import', 'tsx', main, ...stand.entries], {
    cwd: findProjectRoot(),
    env: { ...process.env, PORT: '0', DATA_DIR: join(stand.folder, 'data'), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const closed = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  const until = async (pattern: RegExp, from = 0): Promise<RegExpExecArray> => {
    try {
      return await waitFor(String(pattern), LINE_LIMIT_MS, () => pattern.exec(output.slice(from)) ?? undefined);
    } catch (error) {
      throw new Error(`${String(pattern)} was not said, but:\n${output}`, { cause: error });
    }
  };
  return { child, pid: child.pid ?? 0, output: () => output, until, ended: () => closed };
}
