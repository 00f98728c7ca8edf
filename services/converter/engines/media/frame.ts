import { join } from 'node:path';
import { checkResult } from '../checks.ts';
import type { ConversionContext, ConversionRequest, ConversionResult, Engine } from '../engine.ts';
import { EngineFailure } from '../failure.ts';
import { drawFilm } from './filters.ts';
import type { Recording } from './inspect.ts';
import type { Plan } from './plan.ts';

/** One picture of a film, as it lies in the job's folder before the image engine has it. */
export const FRAME_FILE = 'frame.png';

/**
 * How to take one picture of a film, as large as the film is shown.
 * @throws EngineFailure `no_video`, `result_too_large`.
 */
export function planFrame({ picture }: Recording): Plan {
  if (picture === undefined) throw new EngineFailure('no_video');
  const { filters } = drawFilm(picture, {});
  return { maps: [picture], args: ['-vf', filters.join(','), '-frames:v', '1', '-c:v', 'png', '-pix_fmt', 'rgb24', '-compression_level', '1'], muxer: 'image2pipe' };
}

/** Lets the image engine make the result out of the picture, so that all of its options work; throws what it throws. */
export async function drawFrame(pictures: Engine, request: ConversionRequest, context: ConversionContext): Promise<ConversionResult> {
  await checkResult(join(request.job.path, FRAME_FILE), 'png');
  // What only films know has been done.
  const options = Object.fromEntries(Object.entries(request.options).filter(([name]) => name !== 'start'));
  return pictures.convert({ ...request, source: FRAME_FILE, input: 'png', options }, context);
}
