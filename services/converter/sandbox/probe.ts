import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import type { z } from 'zod';
import type { probeAnswer } from './self-test.ts';

/** Milliseconds after which a silent network counts as unreachable; loopback answers at once. */
const CONNECT_MS = 1_000;

function canRead(path: string): boolean {
  try {
    readFileSync(path);
    return true;
  } catch {
    return false;
  }
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const end = (reached: boolean): void => {
      socket.destroy();
      resolve(reached);
    };
    socket.setTimeout(CONNECT_MS, () => end(false));
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
  });
}

const [port, planted] = process.argv.slice(2);
if (port === undefined || planted === undefined) throw new Error('the probe needs a port and a path');
writeFileSync('written.txt', 'a job must be able to write into its folder');
const answer: z.infer<typeof probeAnswer> = { reached_listener: await canConnect(Number(port)), read_planted: canRead(planted) };
process.stdout.write(JSON.stringify(answer));
