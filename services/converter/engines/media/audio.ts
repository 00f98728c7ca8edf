import type { FormatName } from '../../../../shared/domain/catalogue/formats.ts';
import { anySoundOptions } from '../../../../shared/domain/catalogue/options/audio.ts';
import { Defect } from '../../../../shared/errors/errors.ts';
import { EngineFailure } from '../failure.ts';
import type { Recording, StreamAnswer } from './inspect.ts';
import type { Plan, PlanRequest } from './plan.ts';
import { keepsSound, soundArguments, SOUND_CODECS, type SoundCodec } from './sound.ts';

/** How a format of sound is written. */
interface SoundFormat {
  readonly codec: SoundCodec;
  /** The codec where samples of 24 bits are stored. */
  readonly codec24?: SoundCodec;
  readonly muxer: string;
  /** Arguments of the container. */
  readonly args?: readonly string[];
  /** Whether it holds a cover. */
  readonly covers?: boolean;
}

const ID3 = ['-id3v2_version', '3'];

const FORMATS: Partial<Readonly<Record<FormatName, SoundFormat>>> = {
  aac: { codec: SOUND_CODECS.aac, muxer: 'adts' },
  aiff: { codec: SOUND_CODECS.pcm16be, codec24: SOUND_CODECS.pcm24be, muxer: 'aiff', args: ['-write_id3v2', '1', ...ID3], covers: true },
  flac: { codec: SOUND_CODECS.flac, codec24: SOUND_CODECS.flac, muxer: 'flac', covers: true },
  m4a: { codec: SOUND_CODECS.aac, muxer: 'ipod', args: ['-movflags', '+faststart'], covers: true },
  mp3: { codec: SOUND_CODECS.mp3, muxer: 'mp3', args: ID3, covers: true },
  ogg: { codec: SOUND_CODECS.vorbis, muxer: 'ogg' },
  opus: { codec: SOUND_CODECS.opus, muxer: 'opus' },
  wav: { codec: SOUND_CODECS.pcm16, codec24: SOUND_CODECS.pcm24, muxer: 'wav' },
  wma: { codec: SOUND_CODECS.wma, muxer: 'asf' },
};

/** Codecs that store every sample, so that more than 16 bits of it mean something. */
const LOSSLESS = /^(pcm_|flac$|alac$|wmalossless$|wavpack$)/;

/** Pictures that every container of sound takes as a cover. */
const COVER_CODECS: ReadonlySet<string | undefined> = new Set(['mjpeg', 'png']);

/** True when a format holds nothing but sound. */
export function isSoundFormat(format: FormatName): boolean {
  return FORMATS[format] !== undefined;
}

/**
 * How to write one sound; one that is in the right codec already is taken as it is.
 * @throws EngineFailure `no_audio`.
 */
export function planSound(recording: Recording, request: PlanRequest): Plan {
  const format = FORMATS[request.output];
  if (format === undefined) throw new Defect(`${request.output} is no format of sound`);
  const { sound, cover } = recording;
  if (sound === undefined) throw new EngineFailure('no_audio');
  const options = anySoundOptions.parse(request.options);
  const deep = bitsOf(sound, options.bit_depth) === 24 && format.codec24 !== undefined;
  const codec = deep && format.codec24 ? format.codec24 : format.codec;
  const copied = request.mayCopy && keepsSound(codec, sound, options);
  const withCover = format.covers === true && options.start === undefined && cover !== undefined && COVER_CODECS.has(cover.codec_name);
  return {
    maps: [sound, ...(withCover ? [cover] : [])],
    args: [
      ...(copied ? ['-c:a', 'copy'] : soundArguments(codec, sound, options)),
      ...(copied || codec !== SOUND_CODECS.flac ? [] : flacArguments(deep, options.compression_level)),
      ...(withCover ? ['-c:v', 'copy', '-disposition:v:0', 'attached_pic'] : []),
      ...(format.args ?? []),
    ],
    muxer: format.muxer,
  };
}

function bitsOf(sound: StreamAnswer, asked: 16 | 24 | undefined): 16 | 24 {
  if (asked !== undefined) return asked;
  const bits = sound.bits_per_raw_sample ?? sound.bits_per_sample ?? 16;
  return bits > 16 && LOSSLESS.test(sound.codec_name ?? '') ? 24 : 16;
}

/** FLAC takes 24 bits as 32, of which it is told that 24 count. */
function flacArguments(deep: boolean, level = 5): string[] {
  return ['-sample_fmt', deep ? 's32' : 's16', ...(deep ? ['-bits_per_raw_sample', '24'] : []), '-compression_level', String(level)];
}
