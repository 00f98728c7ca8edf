import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { findProjectRoot } from '../../../shared/tools/project-root.ts';
import { runCommand } from './run-command.ts';
import { briefly, type Say, type StepResult } from './step.ts';

/** Loading a library takes a fraction of a second. */
const LOAD_LIMIT_MS = 15_000;
/** Compiling SQLite takes a minute on a usual machine, ten on a small one. */
const REBUILD_LIMIT_MS = 15 * 60_000;
/** The compiler takes a second or two. */
const BUILD_LIMIT_MS = 120_000;

const TRY_SQLITE = `try {
  new (require('better-sqlite3'))(':memory:').close();
} catch (error) {
  process.stderr.write(error.message.split('\\n')[0]);
  process.exitCode = 1;
}`;

/** Runs npm in the project. */
export type Npm = (args: readonly string[], limitMs: number) => Promise<string>;

/** The npm that runs us where `npmScript` names its program, else the one in the PATH. */
export function npmRunner(npmScript: string | undefined, environment: NodeJS.ProcessEnv): Npm {
  const [command, ...first] = npmScript?.endsWith('.js') === true ? [process.execPath, npmScript] : ['npm'];
  const headers = findNodeHeaders();
  const env = headers === undefined ? environment : { ...environment, npm_config_nodedir: headers };
  return (args, limitMs) => runCommand(command ?? 'npm', [...first, ...args], { limitMs, cwd: findProjectRoot(), environment: env });
}

/** Node's own headers, which most installations bring: with them a compilation downloads nothing. */
function findNodeHeaders(): string | undefined {
  const prefix = resolve(dirname(process.execPath), '..');
  const file = join(prefix, 'include/node/node_version.h');
  // Headers of another Node would compile to a library that this one refuses.
  const version = existsSync(file) ? /#define NODE_MODULE_VERSION (\d+)/.exec(readFileSync(file, 'utf8'))?.[1] : undefined;
  return version === process.versions.modules ? prefix : undefined;
}

/** Builds better-sqlite3, the one package that needs more than its files (.npmrc forbids install scripts to all). */
export async function buildSqlite(npm: Npm, say: Say): Promise<StepResult> {
  if ((await loadSqlite()) === undefined) return { outcome: 'ready', sentence: 'already there' };
  say('building better-sqlite3, which keeps local copies of the log; about a minute when no ready-made file can be fetched');
  try {
    await npm(['rebuild', 'better-sqlite3', '--ignore-scripts=false'], REBUILD_LIMIT_MS);
  } catch (error) {
    say(briefly(error));
  }
  const problem = await loadSqlite();
  if (problem === undefined) return { outcome: 'ready', sentence: 'built' };
  return { outcome: 'missing', sentence: `better-sqlite3 cannot be loaded (${problem}). Install a C++ compiler, make and python3 (Debian: build-essential python3; macOS: xcode-select --install) and run the set-up again.` };
}

async function loadSqlite(): Promise<string | undefined> {
  // In a process of its own: a library for another Node version would end ours.
  return runCommand(process.execPath, ['-e', TRY_SQLITE], { limitMs: LOAD_LIMIT_MS, cwd: findProjectRoot() }).then(() => undefined, briefly);
}

/** Compiles the sources to `dist/`, from which the services run. */
export async function buildProject(npm: Npm): Promise<StepResult> {
  try {
    await npm(['run', '-s', 'build'], BUILD_LIMIT_MS);
    return { outcome: 'ready', sentence: 'compiled to dist/' };
  } catch (error) {
    return { outcome: 'missing', sentence: `The sources do not compile: ${briefly(error)}` };
  }
}
