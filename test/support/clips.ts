import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Runs the system's ffmpeg outside of every sandbox, to make clips for tests and to look at results. */
export function ffmpeg(args: readonly string[], cwd?: string): string {
  return execFileSync('ffmpeg', ['-nostdin', '-hide_banner', '-y', ...args], { cwd, stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 64 * 1024 * 1024 }).toString();
}

/** Makes a clip in a folder and reads it. */
export function makeClip(folder: string, name: string, args: readonly string[]): Buffer {
  ffmpeg(['-v', 'error', ...args, name], folder);
  return readFileSync(join(folder, name));
}

/** A moving test card of so many seconds, as input of `makeClip`. */
export function testCard(seconds: number, size = '320x180', fps = 25): string[] {
  return ['-f', 'lavfi', '-t', String(seconds), '-i', `testsrc2=size=${size}:rate=${fps}`];
}

/** A tone of so many seconds, as input of `makeClip`. */
export function tone(seconds: number, frequency = 440, rate = 44_100): string[] {
  return ['-f', 'lavfi', '-t', String(seconds), '-i', `sine=frequency=${frequency}:sample_rate=${rate}`];
}

/** What ffprobe shows of some fields of a file, one line for each section, `key=value` pairs between bars. */
export function show(path: string, entries: string): string[] {
  const text = execFileSync('ffprobe', ['-v', 'error', '-show_entries', entries, '-of', 'compact', path], { stdio: ['ignore', 'pipe', 'ignore'] }).toString();
  return text.trim().split('\n').filter((line) => line !== '');
}
