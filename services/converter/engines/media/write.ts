import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TransientError } from '../../../../shared/errors/errors.ts';
import type { JobDir } from '../../sandbox/command.ts';
import type { ConversionContext } from '../engine.ts';
import { EngineFailure, EngineKilled } from '../failure.ts';
import type { Exit } from '../../sandbox/process.ts';
import { RESULT_BYTES_MAX, SECONDS_MAX, THREADS } from './limits.ts';
import { openArguments } from './open.ts';
import type { Plan } from './plan.ts';
import { readProgress } from './progress.ts';
import { tagFile, type Tags } from './tags.ts';
import { runMedia } from './tools.ts';

type RunContext = Pick<ConversionContext, 'sandbox' | 'signal' | 'timeLimitMs'>;

/** One run of ffmpeg over a source. */
export interface Writing {
  readonly job: JobDir;
  readonly source: string;
  readonly demuxer: string;
  readonly plan: Plan;
  /** Name of the result in the job's folder. */
  readonly result: string;
  /** Where to begin, seconds. */
  readonly start?: number | undefined;
  /** How much is asked for, seconds; undefined for all of it. */
  readonly duration?: number | undefined;
  /** How much will be written as far as it is known, seconds. */
  readonly seconds: number | undefined;
  /** What the result says about itself; undefined keeps all that the source says. */
  readonly tags: Tags | undefined;
}

/** Options for the one file of tags, which is ours. */
const TAG_FILE = 'tags';
const TAG_INPUT = ['-protocol_whitelist', 'file', '-format_whitelist', 'ffmetadata', '-f', 'ffmetadata', '-i', `./${TAG_FILE}`];

const QUIET = ['-nostdin', '-hide_banner', '-v', 'error', '-progress', 'pipe:1', '-stats_period', '0.5'];

/**
 * Writes a result by a plan and tells how far it is.
 * @returns how much was written, seconds
 * @throws EngineFailure for what lies with the file; also what `runProgram` throws.
 */
export async function writeRecording(writing: Writing, context: RunContext & Pick<ConversionContext, 'onProgress'>): Promise<number> {
  const { job, source, demuxer, plan, result, start, duration, seconds, tags } = writing;
  if (tags !== undefined) await writeTags(job, tags);
  const args = [
    ...QUIET,
    '-threads', String(THREADS), ...openArguments(demuxer),
    ...(start === undefined ? [] : ['-ss', start.toFixed(3)]), '-i', `./${source}`,
    ...(tags === undefined ? [] : TAG_INPUT),
    ...plan.maps.flatMap(({ index }) => ['-map', `0:${index}`]),
    ...(tags === undefined ? [] : ['-map_metadata', '1', '-map_metadata:s', '-1']),
    '-filter_threads', String(THREADS), ...plan.args,
    '-t', Math.min(duration ?? SECONDS_MAX, SECONDS_MAX).toFixed(3), '-fs', String(RESULT_BYTES_MAX),
    '-f', plan.muxer, '-y', `./${result}`,
  ];
  return run(job, args, seconds, context);
}

/** A program that a file took over may have left a link under the name; what it points to must not be written. */
async function writeTags(job: JobDir, tags: Tags): Promise<void> {
  try {
    await writeFile(join(job.path, TAG_FILE), tagFile(tags), { mode: 0o644, flag: 'wx' });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') throw new EngineFailure('engine_crashed', 'something else lies where the tags belong');
    throw error;
  }
}

/**
 * Reads a source without decoding it to see how long it really is.
 * @returns seconds
 * @throws EngineFailure `damaged`; also what `runProgram` throws.
 */
export function measureSeconds(job: JobDir, source: string, demuxer: string, context: RunContext): Promise<number> {
  const args = [...QUIET, ...openArguments(demuxer), '-i', `./${source}`, '-map', '0:v?', '-map', '0:a?', '-c', 'copy', '-f', 'null', '-'];
  return run(job, args, undefined, { ...context, onProgress: () => undefined });
}

async function run(job: JobDir, args: readonly string[], seconds: number | undefined, context: RunContext & Pick<ConversionContext, 'onProgress'>): Promise<number> {
  const progress = readProgress(seconds, context.onProgress);
  const { exit } = await runMedia('ffmpeg', { job, args, onOutput: progress.read }, context);
  checkEnd(exit);
  return progress.seconds();
}

/** With this code ffmpeg ends after a signal, which it does not leave to the system. */
const SIGNALLED_CODE = 255;

/** What ffmpeg says in the words of the C library; it has no other way of telling. */
const SAYINGS = { noMemory: /Cannot allocate memory/, diskFull: /No space left on device/, unknownCodec: /Decoder \(codec .{1,40}\) not found|Decoding requested, but no decoder found/ } as const;

function checkEnd({ code, stderrTail }: Exit): void {
  if (code === 0) return;
  if (code === SIGNALLED_CODE) throw new EngineKilled('the conversion was ended by a signal');
  if (SAYINGS.diskFull.test(stderrTail)) throw new TransientError('storage', 'the disk is full');
  if (SAYINGS.noMemory.test(stderrTail)) throw new EngineFailure('out_of_memory', stderrTail);
  if (SAYINGS.unknownCodec.test(stderrTail)) throw new EngineFailure('unsupported_feature', stderrTail);
  throw new EngineFailure('damaged', stderrTail);
}
