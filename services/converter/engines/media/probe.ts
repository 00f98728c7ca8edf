import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FormatName } from '../../../../shared/domain/catalogue/formats.ts';
import { matchesDeclared } from '../../../../shared/objects/sniff/heads.ts';
import type { JobDir } from '../../sandbox/command.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import type { ToolState } from '../engine.ts';
import { EngineFailure } from '../failure.ts';
import { hasFfmpeg, runMedia } from './tools.ts';

/** Time in which all trials must be over, milliseconds. */
const TIME_LIMIT_MS = 30_000;

const PACKAGE = 'the package ffmpeg brings it';

/** A clip of a fifth of a second: so many frames of so many pixels a side, and as long a silence. */
const CLIP = { frames: 5, side: 32, silenceBytes: 48_000 * 2 * 0.2 } as const;

/** One result for each encoder that conversions rely on. */
const TRIALS: readonly (readonly [FormatName, readonly string[]])[] = [
  ['mp4', ['-c:v', 'libx264', '-c:a', 'aac', '-pix_fmt', 'yuv420p', '-f', 'mp4']],
  ['mkv', ['-c:v', 'libx265', '-x265-params', 'log-level=error', '-an', '-pix_fmt', 'yuv420p', '-f', 'matroska']],
  ['webm', ['-c:v', 'libvpx-vp9', '-c:a', 'libopus', '-f', 'webm']],
  ['avi', ['-c:v', 'mpeg4', '-c:a', 'libmp3lame', '-f', 'avi']],
  ['ogg', ['-vn', '-c:a', 'libvorbis', '-f', 'ogg']],
  ['wma', ['-vn', '-c:a', 'wmav2', '-f', 'asf']],
  ['flac', ['-vn', '-c:a', 'flac', '-f', 'flac']],
];

/** Lets ffmpeg write a clip in every codec that is promised, and looks at what it wrote. */
export async function probeFfmpeg(sandbox: Sandbox): Promise<ToolState> {
  if (!hasFfmpeg()) return { available: false, reason: `ffmpeg or ffprobe is not installed; ${PACKAGE}` };
  const job = await sandbox.openJob();
  try {
    return await tryCodecs(sandbox, job);
  } catch (error) {
    return { available: false, reason: `${error instanceof EngineFailure ? `${error.code} ${error.operatorDetail}`.trim() : String(error)}; ${PACKAGE}` };
  } finally {
    await sandbox.closeJob(job);
  }
}

async function tryCodecs(sandbox: Sandbox, job: JobDir): Promise<ToolState> {
  const context = { sandbox, signal: new AbortController().signal, timeLimitMs: TIME_LIMIT_MS };
  const { output } = await runMedia('ffmpeg', { job, args: ['-version'] }, context);
  const version = /^ffmpeg version n?(\d{1,6}(?:\.\d{1,6}){1,3})/.exec(output)?.[1];
  if (version === undefined) return { available: false, reason: `ffmpeg does not say its version; ${PACKAGE}` };
  await writeFile(join(job.path, 'picture'), Buffer.alloc(CLIP.side * CLIP.side * 3 * CLIP.frames, 90), { mode: 0o644 });
  await writeFile(join(job.path, 'sound'), Buffer.alloc(CLIP.silenceBytes), { mode: 0o644 });
  const picture = ['-f', 'rawvideo', '-pix_fmt', 'rgb24', '-s', `${CLIP.side}x${CLIP.side}`, '-r', '25', '-i', './picture'];
  const sound = ['-f', 's16le', '-ar', '48000', '-ac', '1', '-i', './sound'];
  const trials = TRIALS.flatMap(([format, args]) => [...args, '-y', `./trial.${format}`]);
  const { exit } = await runMedia('ffmpeg', { job, args: ['-nostdin', '-v', 'error', '-protocol_whitelist', 'file', ...picture, ...sound, ...trials] }, context);
  if (exit.code !== 0) return { available: false, reason: `ffmpeg lacks a codec (${exit.stderrTail.split('\n')[0] ?? ''}); ${PACKAGE}` };
  for (const [format] of TRIALS) {
    if (!matchesDeclared(await readFile(join(job.path, `trial.${format}`)), format)) return { available: false, reason: `ffmpeg does not write ${format}; ${PACKAGE}` };
  }
  return { available: true, version };
}
