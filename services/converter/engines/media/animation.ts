import { anyFilmOptions } from '../../../../shared/domain/catalogue/options/video.ts';
import { EngineFailure } from '../failure.ts';
import { FRAMES_MAX } from '../image/limits.ts';
import { drawFilm } from './filters.ts';
import type { Recording } from './inspect.ts';
import { ANIMATION_PIXELS_MAX } from './limits.ts';
import type { Plan, PlanRequest } from './plan.ts';
import { shownSize } from './size.ts';

/** Width of an animation unless asked for, pixels; a wider one weighs more than the film it is made from. */
const WIDTH_DEFAULT = 480;

const FPS_DEFAULT = 12;

/**
 * How to draw a film as an animation with a palette of its own.
 * @throws EngineFailure `no_video`, `too_many_frames`, `result_too_large`.
 */
export function planAnimation({ picture }: Recording, request: PlanRequest): Plan {
  if (picture === undefined) throw new EngineFailure('no_video');
  const { width, height, fit, fps = FPS_DEFAULT, colors = 256, loop = 0 } = anyFilmOptions.parse(request.options);
  const frames = Math.ceil((request.seconds ?? 0) * fps);
  if (frames > FRAMES_MAX) throw new EngineFailure('too_many_frames');
  const asked = width === undefined && height === undefined ? { width: Math.min(WIDTH_DEFAULT, shownSize(picture).width) } : { width, height };
  const { size, filters } = drawFilm(picture, { ...asked, fit, fps });
  if (size.width * size.height * frames > ANIMATION_PIXELS_MAX) throw new EngineFailure('result_too_large');
  const palette = `split[a][b];[a]palettegen=max_colors=${Math.max(4, colors)}:stats_mode=diff[p];[b][p]paletteuse=dither=sierra2_4a:diff_mode=rectangle`;
  return {
    maps: [picture],
    args: ['-vf', [...filters, palette].join(','), '-frames:v', String(FRAMES_MAX), '-c:v', 'gif', '-loop', String(loopsOf(loop))],
    muxer: 'gif',
  };
}

/** GIF counts how often it is played again: 0 is for ever, and -1 leaves the mark out, which is once. */
function loopsOf(times: number): number {
  return times === 0 ? 0 : times === 1 ? -1 : times - 1;
}
