import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Say } from './step.ts';

/** How often a line says how far apt is, in ms. */
const SAY_EVERY_MS = 5_000;
/** Longest time that apt waits for another apt that is at work, in seconds. */
const LOCK_TIMEOUT_SECONDS = 300;
/** Characters of what apt prints that are kept; a list of a thousand packages has a tenth of it. */
const OUTPUT_CHARACTERS_MAX = 1_000_000;
/** Lines of a failing apt that are shown. */
const SHOWN_LINES = 3;
/** After the signal that asks apt to end it gets so long before it is killed, in ms: it may be unpacking. */
const END_LIMIT_MS = 60_000;
/** The descriptor on which apt tells how far it is. */
const STATUS_DESCRIPTOR = 3;

/** Nobody is there to answer a question: files that somebody changed stay as they are, services are left alone. */
const VARIABLES = ['DEBIAN_FRONTEND=noninteractive', 'NEEDRESTART_MODE=l', 'LC_ALL=C.UTF-8'] as const;

const OPTIONS = [
  '-q', '-y',
  '-o', `APT::Status-Fd=${STATUS_DESCRIPTOR}`,
  '-o', `DPkg::Lock::Timeout=${LOCK_TIMEOUT_SECONDS}`,
  '-o', 'Dpkg::Options::=--force-confdef',
  '-o', 'Dpkg::Options::=--force-confold',
  '-o', 'Acquire::Retries=2',
] as const;

/**
 * Runs apt-get to its end, says every few seconds how far it is, and answers what it printed.
 * @throws Error with the end of what apt said, or that it took longer than `limitMs`.
 */
export async function runApt(args: readonly string[], limitMs: number, say: Say): Promise<string> {
  const child = spawn('env', [...VARIABLES, 'apt-get', ...OPTIONS, ...args], { stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve, reject) => void child.once('error', reject).once('close', resolve));
  const [, stdout, stderr, status] = child.stdio;
  const output = gather(stdout);
  const complaints = gather(stderr);
  tellProgress(status as Readable, say);
  const timers: NodeJS.Timeout[] = [];
  timers.push(setTimeout(() => {
    child.kill('SIGTERM');
    timers.push(setTimeout(() => child.kill('SIGKILL'), END_LIMIT_MS));
  }, limitMs));
  try {
    const code = await ended;
    if (code === 0) return output();
    // Each limit has its timer, and the second one is only there when the first one ran out.
    if (timers.length > 1) throw new Error(`apt-get took longer than ${limitMs / 60_000} minutes`);
    throw new Error(`apt-get: ${lastWords(complaints() || output())}`);
  } finally {
    for (const timer of timers) clearTimeout(timer);
  }
}

function gather(stream: Readable | null): () => string {
  let text = '';
  stream?.setEncoding('utf8').on('data', (part: string) => {
    if (text.length < OUTPUT_CHARACTERS_MAX) text += part;
  });
  return () => text;
}

/** Lines such as `pmstatus:ffmpeg:45.2:Unpacking ffmpeg (amd64)` or `dlstatus:3:12.5:Retrieving file 3 of 40`. */
function tellProgress(status: Readable, say: Say): void {
  let saidMs = performance.now();
  createInterface({ input: status }).on('line', (line) => {
    const [, percent, text] = /^(?:dl|pm)status:[^:]*:([\d.]+):(.*)$/.exec(line) ?? [];
    if (percent === undefined || text === undefined || performance.now() - saidMs < SAY_EVERY_MS) return;
    saidMs = performance.now();
    say(`${Math.round(Number(percent))} %, ${text}`);
  });
}

/** The lines that speak of an error, or the last ones where none does. */
function lastWords(output: string): string {
  const lines = output.split('\n').map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('W: '));
  const errors = lines.filter((line) => line.startsWith('E: '));
  return (errors.length > 0 ? errors : lines).slice(-SHOWN_LINES).join(' / ');
}
