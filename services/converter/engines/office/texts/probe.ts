import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { findProjectRoot } from '../../../../../shared/tools/project-root.ts';
import type { Sandbox } from '../../../sandbox/sandbox.ts';
import type { ToolState } from '../../engine.ts';
import { EngineFailure } from '../../failure.ts';
import { runTexts } from './run.ts';

/** Time in which a probe must answer, milliseconds. */
const PROBE_TIME_LIMIT_MS = 20_000;

/** Lets our own program for texts convert a tiny one by the way that every text goes; never rejects. */
export async function probeTexts(sandbox: Sandbox): Promise<ToolState> {
  const job = await sandbox.openJob();
  try {
    await writeFile(join(job.path, 'probe.md'), '# It works\n');
    const context = { sandbox, signal: new AbortController().signal, timeLimitMs: PROBE_TIME_LIMIT_MS };
    await runTexts(job, { source: 'probe.md', result: 'probe.html', input: 'md', output: 'html', options: {} }, context);
    const written = await readFile(join(job.path, 'probe.html'), 'utf8');
    return written.includes('<h1>It works</h1>') ? { available: true, version: await ownVersion() } : missing('the result of the probe is not right');
  } catch (error) {
    return missing(error instanceof EngineFailure ? `${error.code} ${error.operatorDetail}`.trim() : String(error));
  } finally {
    await sandbox.closeJob(job);
  }
}

/** The program is part of the service, so its version is that of the service. */
async function ownVersion(): Promise<string> {
  return z.object({ version: z.string() }).parse(JSON.parse(await readFile(join(findProjectRoot(), 'package.json'), 'utf8'))).version;
}

function missing(what: string): ToolState {
  return { available: false, reason: `${what}; npm ci installs what it needs` };
}
