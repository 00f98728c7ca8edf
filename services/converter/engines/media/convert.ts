import { join } from 'node:path';
import { extensionOf } from '../../../../shared/domain/catalogue/formats.ts';
import { anySoundOptions } from '../../../../shared/domain/catalogue/options/audio.ts';
import { checkResult, checkSource } from '../checks.ts';
import type { ConversionContext, ConversionRequest, ConversionResult, Engine } from '../engine.ts';
import { EngineFailure } from '../failure.ts';
import { countDown } from '../time-left.ts';
import { planAnimation } from './animation.ts';
import { isSoundFormat, planSound } from './audio.ts';
import { isFilmFormat, planFilm } from './film.ts';
import { drawFrame, FRAME_FILE, planFrame } from './frame.ts';
import { inspectRecording, type Recording } from './inspect.ts';
import { ANIMATION_SECONDS_MAX, FRAME_PIXELS_MAX, RESULT_BYTES_MAX, SECONDS_MAX } from './limits.ts';
import { demuxerOf } from './open.ts';
import { isWellTimed, type Plan, type PlanRequest } from './plan.ts';
import { isCutRiff, isShort } from './promised.ts';
import { measureSeconds, writeRecording } from './write.ts';

/** A recording that has been looked at, and what is to be made of it. */
interface Task {
  readonly request: ConversionRequest;
  readonly demuxer: string;
  readonly recording: Recording;
  /** Length of the whole recording, seconds. */
  readonly total: number;
}

/**
 * Converts one recording: looks at what it holds, refuses what cannot be done, then writes the result in one run.
 * @param pictures draws a picture of a film in the format asked for
 * @throws EngineFailure with the cause; also what `runProgram` throws.
 */
export async function convertMedia(request: ConversionRequest, pictures: Engine, context: ConversionContext): Promise<ConversionResult> {
  const { job, source, input, output } = request;
  const path = join(job.path, source);
  await checkSource(path, input);
  if (await isCutRiff(path)) throw new EngineFailure('damaged');
  const bounded = countDown(context);
  const demuxer = await demuxerOf(path, input);
  const recording = await inspectRecording(job, source, demuxer, bounded());
  const total = recording.seconds ?? (await measureSeconds(job, source, demuxer, bounded()));
  const task = { request, demuxer, recording, total };
  return isSoundFormat(output) || isFilmFormat(output) || output === 'gif' ? writeResult(task, bounded) : writeFrame(task, pictures, bounded);
}

async function writeResult({ request, demuxer, recording, total }: Task, bounded: () => ConversionContext): Promise<ConversionResult> {
  const { job, source, input, output, options } = request;
  const { start, duration, keep_metadata } = anySoundOptions.parse(options);
  const seconds = partOf(total, start ?? 0, duration);
  if (seconds > (input === 'gif' ? ANIMATION_SECONDS_MAX : SECONDS_MAX)) throw new EngineFailure('too_long');
  const result = `result.${extensionOf(output)}`;
  const plan = planFor(recording, { output, options, mayCopy: isWellTimed(input), seconds });
  const startedAt = performance.now();
  const tags = keep_metadata === true ? undefined : recording.tags;
  const written = await writeRecording({ job, source, demuxer, plan, result, start, duration, seconds, tags }, bounded());
  const billableMs = Math.ceil(performance.now() - startedAt);
  if (isShort(written, seconds) && isShort(await measureSeconds(job, source, demuxer, bounded()), total)) throw new EngineFailure('damaged');
  if (written >= SECONDS_MAX) throw new EngineFailure('too_long');
  const path = join(job.path, result);
  const sizeBytes = await checkResult(path, output);
  if (sizeBytes >= RESULT_BYTES_MAX) throw new EngineFailure('result_too_large');
  return { path, sizeBytes, billableMs };
}

/** Where in a film its picture is taken unless asked for: many begin black. */
const FRAME_PART = 0.1;

async function writeFrame({ request, demuxer, recording, total }: Task, pictures: Engine, bounded: () => ConversionContext): Promise<ConversionResult> {
  const { job, source } = request;
  const { start = total * FRAME_PART } = anySoundOptions.parse(request.options);
  partOf(total, start, undefined);
  const plan = planFor(recording, { output: request.output, options: request.options, mayCopy: false, seconds: undefined });
  const startedAt = performance.now();
  await writeRecording({ job, source, demuxer, plan, result: FRAME_FILE, start, seconds: undefined, tags: recording.tags }, bounded());
  const takenMs = Math.ceil(performance.now() - startedAt);
  const drawn = await drawFrame(pictures, request, bounded());
  return { ...drawn, billableMs: takenMs + drawn.billableMs };
}

/** How much of a recording is asked for, seconds. */
function partOf(total: number, start: number, duration: number | undefined): number {
  if (start > 0 && start >= total) throw new EngineFailure('start_after_end');
  return Math.min(total - start, duration ?? Infinity);
}

function planFor(recording: Recording, request: PlanRequest): Plan {
  const { width = 0, height = 0 } = recording.picture ?? {};
  if (isSoundFormat(request.output)) return planSound(recording, request);
  if (width * height > FRAME_PIXELS_MAX) throw new EngineFailure('too_many_pixels');
  if (isFilmFormat(request.output)) return planFilm(recording, request);
  return request.output === 'gif' ? planAnimation(recording, request) : planFrame(recording);
}
