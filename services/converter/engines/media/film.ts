import type { FormatName } from '../../../../shared/domain/catalogue/formats.ts';
import { anySoundOptions } from '../../../../shared/domain/catalogue/options/audio.ts';
import { anyFilmOptions, type FilmOptions } from '../../../../shared/domain/catalogue/options/video.ts';
import { Defect } from '../../../../shared/errors/errors.ts';
import { EngineFailure } from '../failure.ts';
import { drawFilm } from './filters.ts';
import type { Recording, StreamAnswer } from './inspect.ts';
import type { Plan, PlanRequest } from './plan.ts';
import { encoderArguments, type PictureCodec } from './picture-codecs.ts';
import { ownTurnOf } from './size.ts';
import { keepsSound, soundArguments, SOUND_CODECS, type SoundCodec } from './sound.ts';

/** How a format of films is written. */
interface FilmFormat {
  /** The codec that is used unless another is asked for. */
  readonly picture: PictureCodec;
  /** Codecs that a source may keep when none is asked for. */
  readonly kept: readonly PictureCodec[];
  readonly sounds: readonly [SoundCodec, ...SoundCodec[]];
  readonly muxer: string;
  readonly args?: readonly string[];
  /** Whether it stores how a film is to be turned. */
  readonly turns?: boolean;
}

const FAST_START = ['-movflags', '+faststart'];
const AAC = [{ ...SOUND_CODECS.aac, kbitsEach: 80 }] as const;

const FORMATS: Partial<Readonly<Record<FormatName, FilmFormat>>> = {
  avi: { picture: 'mpeg4', kept: [], sounds: [SOUND_CODECS.mp3], muxer: 'avi' },
  mkv: { picture: 'h264', kept: ['h264'], sounds: AAC, muxer: 'matroska' },
  mov: { picture: 'h264', kept: ['h264'], sounds: AAC, muxer: 'mov', args: FAST_START, turns: true },
  mp4: { picture: 'h264', kept: ['h264'], sounds: AAC, muxer: 'mp4', args: FAST_START, turns: true },
  webm: { picture: 'vp9', kept: ['vp9', 'vp8'], sounds: [SOUND_CODECS.opus, SOUND_CODECS.vorbis], muxer: 'webm' },
};

/** Pixels as every player decodes them: 8 bits, colour at half the resolution. */
const COMMON_PIXELS: ReadonlySet<string | undefined> = new Set(['yuv420p', 'yuvj420p']);

/** True when a format holds films. */
export function isFilmFormat(format: FormatName): boolean {
  return FORMATS[format] !== undefined;
}

/**
 * How to write a film: one picture and at most one sound. What is in the right codec already and is not to be changed
 * is taken as it is, which takes a moment and loses nothing.
 * @throws EngineFailure `no_video`, `result_too_large`.
 */
export function planFilm({ picture, sound }: Recording, request: PlanRequest): Plan {
  const format = FORMATS[request.output];
  if (format === undefined) throw new Defect(`${request.output} is no format of films`);
  if (picture === undefined) throw new EngineFailure('no_video');
  const options = anyFilmOptions.parse(request.options);
  const heard = options.mute === true ? undefined : sound;
  const copied = request.mayCopy && keepsPicture(format, picture, options);
  return {
    maps: [picture, ...(heard === undefined ? [] : [heard])],
    args: [
      ...(copied ? ['-c:v', 'copy', ...tagOf(picture.codec_name, request.output)] : drawnArguments(format, picture, options, request)),
      ...(heard === undefined ? [] : heardArguments(format, heard, request)),
      ...(format.args ?? []),
    ],
    muxer: format.muxer,
  };
}

function heardArguments({ sounds }: FilmFormat, sound: StreamAnswer, request: PlanRequest): string[] {
  const options = anySoundOptions.parse(request.options);
  if (request.mayCopy && sounds.some((codec) => keepsSound(codec, sound, options))) return ['-c:a', 'copy'];
  return soundArguments(sounds[0], sound, options);
}

function keepsPicture(format: FilmFormat, picture: StreamAnswer, options: FilmOptions): boolean {
  const { start, duration, width, height, fps, rotate, crf, preset, video_bitrate, video_codec } = options;
  const untouched = [start, duration, width, height, fps, rotate, crf, preset, video_bitrate].every((option) => option === undefined);
  const codecs: readonly (string | undefined)[] = video_codec === undefined ? format.kept : [video_codec];
  const upright = ownTurnOf(picture) === 0 || format.turns === true;
  return untouched && upright && codecs.includes(picture.codec_name) && COMMON_PIXELS.has(picture.pix_fmt);
}

function drawnArguments(format: FilmFormat, picture: StreamAnswer, options: FilmOptions, { output }: PlanRequest): string[] {
  const { size, filters } = drawFilm(picture, { ...options, fps: options.fps ?? animationRate(picture) });
  const codec = options.video_codec ?? format.picture;
  return ['-vf', [...filters, 'format=yuv420p'].join(','), ...rateArguments(output, picture, options), ...encoderArguments(codec, size, options), ...tagOf(codec, output)];
}

/** Most pictures a second that an animation is shown with. */
const ANIMATION_FPS_MAX = 50;

/** How long its last picture is shown only counts where a film has a steady rate, so one is made of the shortest delay. */
function animationRate({ codec_name, r_frame_rate }: StreamAnswer): number | undefined {
  return codec_name === 'gif' ? Math.min(ANIMATION_FPS_MAX, Math.max(1, r_frame_rate ?? 10)) : undefined;
}

/** Most pictures a second of a format that must have as many in every second. */
const STEADY_FPS_MAX = 60;

/** AVI has no times, only a number of pictures a second; the others keep the times of the source. */
function rateArguments(output: FormatName, { avg_frame_rate }: StreamAnswer, { fps }: FilmOptions): string[] {
  if (output !== 'avi' || fps !== undefined) return [];
  return ['-r', Math.min(STEADY_FPS_MAX, Math.max(1, avg_frame_rate ?? 25)).toFixed(3)];
}

/** Apple's players take HEVC under this name only. */
function tagOf(codec: string | undefined, output: FormatName): string[] {
  return codec === 'hevc' && output !== 'mkv' ? ['-tag:v', 'hvc1'] : [];
}
