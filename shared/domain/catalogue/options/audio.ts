import { z } from 'zod';
import { number, whole } from './field.ts';
import { keepMetadata, part } from './recording.ts';

/** Options of every sound, whatever it is stored in. */
export const soundOptions = {
  sample_rate: whole(8_000, 192_000, 'Samples a second; the next higher one that the format can store is taken. Default: as in the source.'),
  channels: whole(1, 2, '1 for mono, 2 for stereo. Default: as in the source; mp3 and wma store at most two.'),
  volume: number(0, 10, 'Factor for the loudness: 0.5 is half, 2 is double. Default 1.'),
};

/** Bits that a lossy format spends on a second of sound. */
export function bitrate(max: number, preset: string) {
  return whole(8, max, `Kilobits a second; what the format cannot do at this sample rate and number of channels is rounded to what it can. Default ${preset}.`);
}

const bitDepth = z
  .literal([16, 24], { error: 'must be 16 or 24' })
  .optional()
  .describe('Bits of one sample. Default: 24 where the source has more than 16, else 16.');

const common = { ...part, ...soundOptions, keep_metadata: keepMetadata };

/** Options of a conversion to mp3. */
export const mp3Options = z.strictObject({ ...common, audio_bitrate: bitrate(320, '96 for each channel') });

/** Options of a conversion to m4a or aac, both of which hold AAC. */
export const aacOptions = z.strictObject({ ...common, audio_bitrate: bitrate(512, '96 for each channel') });

/** Options of a conversion to ogg, which holds Vorbis. */
export const oggOptions = z.strictObject({ ...common, audio_bitrate: bitrate(500, '80 for each channel') });

/** Options of a conversion to opus. */
export const opusOptions = z.strictObject({ ...common, audio_bitrate: bitrate(510, '64 for each channel') });

/** Options of a conversion to wma. */
export const wmaOptions = z.strictObject({ ...common, audio_bitrate: bitrate(320, '96 for each channel') });

/** Options of a conversion to wav or aiff, which store every sample as it is. */
export const pcmOptions = z.strictObject({ ...common, bit_depth: bitDepth });

/** Options of a conversion to flac. */
export const flacOptions = z.strictObject({
  ...common,
  bit_depth: bitDepth,
  compression_level: whole(0, 8, 'How hard to compress, 8 is smallest and slowest; nothing is lost at any. Default 5.'),
});

/** What a target of sound may be asked for; each target knows some of it. */
export const anySoundOptions = z.object({ ...common, audio_bitrate: bitrate(512, ''), bit_depth: bitDepth, compression_level: whole(0, 8, '') });

/** The options of a sound, after they were checked by the schema of their target. */
export type SoundOptions = z.infer<typeof anySoundOptions>;
