/**
 * Runs `test/engines` and, when every pair is good enough, keeps what was measured in `docs/quality.json`, from which
 * `docs/formats.md` is made. `npm run quality`.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const folder = await mkdtemp(join(tmpdir(), 'quality-'));
const file = join(folder, 'pairs.jsonl');
const run = spawn(process.execPath, ['--import', 'tsx', 'test/run.ts', 'test/engines'], { cwd: root, env: { ...process.env, QUALITY_FILE: file }, stdio: 'inherit' });
const code = await new Promise<number>((resolve) => run.once('close', (exit) => resolve(exit ?? 1)));
if (code === 0) {
  const lines = (await readFile(file, 'utf8')).trim().split('\n').toSorted();
  const measured = { date: new Date().toISOString().slice(0, 10), machine: `${cpus().length} processors`, pairs: lines.map((line) => JSON.parse(line) as unknown) };
  await writeFile(join(root, 'docs/quality.json'), `${JSON.stringify(measured, undefined, 1).replaceAll(/\n {3,}/g, ' ').replaceAll('\n  }', ' }')}\n`);
  process.stdout.write('docs/quality.json is written; npm run docs puts it into docs/formats.md.\n');
}
await rm(folder, { recursive: true, force: true });
process.exitCode = code;
