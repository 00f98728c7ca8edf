import type { SoundOptions } from '../../../../shared/domain/catalogue/options/audio.ts';
import type { StreamAnswer } from './inspect.ts';

/** A codec of sound, and what it can store. */
export interface SoundCodec {
  /** As ffprobe calls it; a source that has it already is not decoded when nothing asks for it. */
  readonly codec: string;
  readonly encoder: string;
  /** Sample rates that it stores, rising; absent where it stores any. */
  readonly rates?: readonly number[];
  readonly channelsMax: number;
  /** Arguments for so many kilobits a second. */
  readonly bitrate?: (kbits: number, channels: number) => readonly string[];
  /** Kilobits a second for each channel when nothing is asked for. */
  readonly kbitsEach?: number;
}

const MPEG_RATES = [8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000];

const plain = (kbits: number): readonly string[] => ['-b:a', `${kbits}k`];

/** Kilobits for each channel at 44.1 kHz of Vorbis' qualities 0 to 10; it refuses bitrates that do not fit, never a quality. */
const VORBIS_KBITS = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 250];

function vorbisQuality(kbits: number, channels: number): readonly string[] {
  const quality = VORBIS_KBITS.findIndex((each) => each >= kbits / channels);
  return ['-q:a', String(quality === -1 ? VORBIS_KBITS.length - 1 : quality)];
}

/** Most kilobits that Opus takes for one channel. */
const OPUS_KBITS_EACH_MAX = 256;

/** Fewer kilobits a second the encoder of WMA refuses. */
const WMA_KBITS_MIN = 24;

/** Every codec of sound that is written. */
export const SOUND_CODECS = {
  mp3: { codec: 'mp3', encoder: 'libmp3lame', rates: MPEG_RATES, channelsMax: 2, bitrate: plain, kbitsEach: 96 },
  aac: { codec: 'aac', encoder: 'aac', rates: [...MPEG_RATES, 64_000, 88_200, 96_000], channelsMax: 6, bitrate: plain, kbitsEach: 96 },
  vorbis: { codec: 'vorbis', encoder: 'libvorbis', channelsMax: 8, bitrate: vorbisQuality, kbitsEach: 80 },
  opus: {
    codec: 'opus',
    encoder: 'libopus',
    rates: [8_000, 12_000, 16_000, 24_000, 48_000],
    channelsMax: 8,
    bitrate: (kbits, channels) => plain(Math.min(kbits, OPUS_KBITS_EACH_MAX * channels)),
    kbitsEach: 64,
  },
  wma: { codec: 'wmav2', encoder: 'wmav2', rates: [8_000, 11_025, 16_000, 22_050, 32_000, 44_100, 48_000], channelsMax: 2, bitrate: (kbits) => plain(Math.max(kbits, WMA_KBITS_MIN)), kbitsEach: 96 },
  flac: { codec: 'flac', encoder: 'flac', channelsMax: 8 },
  pcm16: { codec: 'pcm_s16le', encoder: 'pcm_s16le', channelsMax: 8 },
  pcm24: { codec: 'pcm_s24le', encoder: 'pcm_s24le', channelsMax: 8 },
  pcm16be: { codec: 'pcm_s16be', encoder: 'pcm_s16be', channelsMax: 8 },
  pcm24be: { codec: 'pcm_s24be', encoder: 'pcm_s24be', channelsMax: 8 },
} as const satisfies Record<string, SoundCodec>;

/** Arguments that encode one sound; those for the samples come first, then those of the codec. */
export function soundArguments(codec: SoundCodec, stream: StreamAnswer, options: SoundOptions): string[] {
  const channels = channelsFor(codec, options.channels ?? stream.channels ?? 2);
  const kbits = options.audio_bitrate ?? (codec.kbitsEach ?? 0) * channels;
  return [
    ...(options.volume === undefined ? [] : ['-af', `volume=${options.volume.toFixed(3)}`]),
    '-ac', String(channels), '-ar', String(rateFor(codec, options.sample_rate ?? stream.sample_rate ?? 44_100)),
    '-c:a', codec.encoder, ...(codec.bitrate?.(kbits, channels) ?? []),
  ];
}

/** True when the options ask for nothing that would change a sound which is already in the right codec. */
export function keepsSound(codec: SoundCodec, stream: StreamAnswer, options: SoundOptions): boolean {
  const { start, duration, sample_rate, channels, volume, audio_bitrate, bit_depth, compression_level } = options;
  const asked = [start, duration, sample_rate, channels, volume, audio_bitrate, bit_depth, compression_level];
  return stream.codec_name === codec.codec && (stream.channels ?? 0) <= codec.channelsMax && asked.every((option) => option === undefined);
}

/** The next higher rate that can be stored. */
function rateFor({ rates }: SoundCodec, wanted: number): number {
  return rates === undefined ? wanted : (rates.find((rate) => rate >= wanted) ?? rates.at(-1) ?? wanted);
}

/** Layouts that every codec of several channels knows: 7.1, 5.1, stereo, mono. */
const CHANNELS = [8, 6, 2, 1];

function channelsFor({ channelsMax }: SoundCodec, wanted: number): number {
  return CHANNELS.find((count) => count <= Math.min(wanted, channelsMax)) ?? 1;
}
