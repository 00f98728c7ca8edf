/**
 * Runs the test folders side by side, each in a mocha of its own: most tests wait for servers, timers and restarts and
 * not for the processor. `npm test`, or `npm test -- test/domain test/e2e` for some folders and all below them.
 */
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';

const root = join(import.meta.dirname, '..');
/** Suites that take minutes have scripts of their own. */
const LONG: ReadonlySet<string> = new Set(['test/e2e', 'test/engines', 'test/contract/engine', 'test/integration/texts', 'test/faults', 'test/cluster', 'test/s3', 'test/browser', 'test/integration/standalone', 'test/integration/setup', 'test/contract/api/webhooks']);
/** Folders that take longest begin first, so that the last one to end is a short one. */
const FIRST = ['test/e2e', 'test/integration/projections', 'test/e2e/api', 'test/contract/api', 'test/integration/importer'];
/** More than the processors can serve at once makes every test wait for the others. */
const SIDE_BY_SIDE = availableParallelism() + 1;

type Result = { readonly passed: number; readonly failed: number };

const wanted = process.argv.slice(2).map((folder) => folder.replace(/\/+$/, ''));
const isIn = (folder: string, above: Iterable<string>): boolean => [...above].some((name) => folder === name || folder.startsWith(`${name}/`));
const queue = findFolders('test').filter((folder) => (wanted.length > 0 ? isIn(folder, wanted) : !isIn(folder, LONG)));
queue.sort((a, b) => rank(a) - rank(b));
if (queue.length === 0) {
  process.stderr.write(`No tests in ${wanted.join(', ')}.\n`);
  process.exit(2);
}
const results: Result[] = [];
await Promise.all(Array.from({ length: SIDE_BY_SIDE }, runQueue));
const passed = results.reduce((sum, result) => sum + result.passed, 0);
const failed = results.reduce((sum, result) => sum + result.failed, 0);
process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;

async function runQueue(): Promise<void> {
  for (let folder = queue.shift(); folder !== undefined; folder = queue.shift()) results.push(await runFolder(folder));
}

/** Output is shown when a folder is through, so that lines of several do not mix. */
async function runFolder(folder: string): Promise<Result> {
  const files = testFiles(folder).map((name) => join(folder, name));
  const started = performance.now();
  const mocha = spawn(process.execPath, ['node_modules/mocha/bin/mocha.js', ...files], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [mocha.stdout, mocha.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const code = await new Promise<number>((resolve) => mocha.once('close', (exit) => resolve(exit ?? 1)));
  const seconds = Math.round((performance.now() - started) / 1000);
  process.stdout.write(`\n=== ${folder} (${seconds} s)\n${output.trimEnd()}\n`);
  const failures = Number(/^\s+(\d+) failing$/m.exec(output)?.[1] ?? 0);
  // A mocha that broke down before it counted has failed all the same.
  return { passed: Number(/^\s+(\d+) passing/m.exec(output)?.[1] ?? 0), failed: code === 0 ? 0 : Math.max(failures, 1) };
}

function findFolders(folder: string): string[] {
  const inside = readdirSync(join(root, folder), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const below = inside.flatMap((entry) => findFolders(relative(root, join(root, folder, entry.name))));
  return testFiles(folder).length > 0 ? [folder, ...below] : below;
}

function testFiles(folder: string): string[] {
  return readdirSync(join(root, folder)).filter((name) => name.endsWith('.test.ts'));
}

function rank(folder: string): number {
  const index = FIRST.indexOf(folder);
  return index === -1 ? FIRST.length : index;
}
