import type { FilmOptions } from '../../../../shared/domain/catalogue/options/video.ts';
import { EngineFailure } from '../failure.ts';
import type { StreamAnswer } from './inspect.ts';
import { FRAME_PIXELS_MAX } from './limits.ts';

/** Width and height, pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** How a picture becomes the size asked for: drawn at `drawn`, then cut or filled up to `whole`. */
export interface Fitted {
  readonly drawn: Size;
  readonly whole: Size;
}

/** Quarter turns that a film's own mark asks for; players apply it, and so does ffmpeg when it decodes. */
export function ownTurnOf(stream: StreamAnswer): number {
  const degrees = stream.side_data_list?.find(({ rotation }) => rotation !== undefined)?.rotation ?? 0;
  return Math.abs(Math.round(degrees / 90)) % 4;
}

/** Size at which a player shows a film: pixels that are not square made so, upright by its own mark. */
export function shownSize(stream: StreamAnswer): Size {
  const { width = 0, height = 0, sample_aspect_ratio: aspect = 1 } = stream;
  const shown = { width: Math.max(1, Math.round(width * aspect)), height };
  return ownTurnOf(stream) % 2 === 1 ? { width: shown.height, height: shown.width } : shown;
}

/**
 * The size that the options ask for, in even numbers, which every codec stores.
 * @throws EngineFailure `result_too_large`.
 */
export function fitFilm(shown: Size, { width, height, fit = 'inside' }: Pick<FilmOptions, 'width' | 'height' | 'fit'>): Fitted {
  const across = width === undefined ? undefined : width / shown.width;
  const down = height === undefined ? undefined : height / shown.height;
  const box = { width: even(width ?? shown.width), height: even(height ?? shown.height) };
  const fitted = (): Fitted => {
    if (across === undefined || down === undefined) return same(scaled(shown, across ?? down ?? 1));
    if (fit === 'fill') return same(box);
    if (fit === 'inside') return same(scaled(shown, Math.min(across, down)));
    if (fit === 'contain') return { drawn: within(scaled(shown, Math.min(across, down)), box), whole: box };
    const covering = scaled(shown, Math.max(across, down));
    return { drawn: { width: Math.max(covering.width, box.width), height: Math.max(covering.height, box.height) }, whole: box };
  };
  const result = fitted();
  for (const size of [result.drawn, result.whole]) if (size.width * size.height > FRAME_PIXELS_MAX) throw new EngineFailure('result_too_large');
  return result;
}

function same(size: Size): Fitted {
  return { drawn: size, whole: size };
}

function scaled({ width, height }: Size, factor: number): Size {
  return { width: even(width * factor), height: even(height * factor) };
}

function within(size: Size, box: Size): Size {
  return { width: Math.min(size.width, box.width), height: Math.min(size.height, box.height) };
}

function even(length: number): number {
  return Math.max(2, Math.round(length / 2) * 2);
}
