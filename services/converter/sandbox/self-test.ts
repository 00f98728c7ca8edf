import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { nodeProgram } from './program.ts';
import { readText } from './read-text.ts';
import type { Sandbox } from './sandbox.ts';

/** What a probe found inside a sandbox, or why it could not look. */
export type SelfTest =
  | { readonly ran: true; readonly reachedListener: boolean; readonly readPlanted: boolean }
  | { readonly ran: false; readonly reason: string };

/** What the probe prints. */
export const probeAnswer = z.object({ reached_listener: z.boolean(), read_planted: z.boolean() });

/** The probe takes a tenth of a second; a cold disk takes longer. */
const PROBE_TIME_LIMIT_MS = 20_000;

const PROBE_LIMITS = { fileBytesMax: 1024 * 1024, cpuSecondsMax: 20, memoryBytesMax: 3 * 1024 ** 3 } as const;

/** Characters of the probe's answer that are read. */
const ANSWER_MAX = 1_000;

/** Runs a probe in the sandbox that tries to reach a listener of ours, to read a file of ours and to write its own. */
export async function testConfinement(sandbox: Sandbox): Promise<SelfTest> {
  const outside = await mkdtemp(join(tmpdir(), 'planted-'));
  const listener = createServer((socket) => socket.destroy());
  const job = await sandbox.openJob();
  try {
    // Anybody may read it, so only the sandbox can stand between the probe and the file.
    await chmod(outside, 0o755);
    const planted = join(outside, 'planted.txt');
    await writeFile(planted, 'readable', { mode: 0o644 });
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const { port } = listener.address() as AddressInfo;
    return await runProbe(sandbox, job, [String(port), planted]);
  } finally {
    listener.close();
    await Promise.all([sandbox.closeJob(job), rm(outside, { recursive: true, force: true })]);
  }
}

async function runProbe(sandbox: Sandbox, job: Awaited<ReturnType<Sandbox['openJob']>>, args: readonly string[]): Promise<SelfTest> {
  const probe = nodeProgram('services/converter/sandbox/probe');
  const child = sandbox.spawn({
    program: { ...probe, args: [...probe.args, ...args] },
    job,
    limits: PROBE_LIMITS,
    timeLimitMs: PROBE_TIME_LIMIT_MS,
  });
  const [answer, exit] = await Promise.all([readText(child.stdout, ANSWER_MAX), child.done]);
  if (exit.cause !== 'exited' || exit.code !== 0) return { ran: false, reason: sentenceOf(exit.stderrTail) };
  const found = probeAnswer.parse(JSON.parse(answer));
  return { ran: true, reachedListener: found.reached_listener, readPlanted: found.read_planted };
}

/** The line that tells most: Node prints where an error was thrown before it says which. */
function sentenceOf(stderr: string): string {
  const lines = stderr.split('\n').filter((line) => line.trim() !== '');
  return lines.find((line) => /error|denied|cannot/i.test(line)) ?? lines[0] ?? 'it ended without a word';
}
