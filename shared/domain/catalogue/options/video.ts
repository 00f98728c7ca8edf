import { z } from 'zod';
import { bitrate, soundOptions } from './audio.ts';
import { flag, number, oneOf, only, whole, type ForInputs } from './field.ts';
import { gifOptions } from './image.ts';
import { keepMetadata, part } from './recording.ts';

/** Longest side of a film, pixels: the most that the common codecs can store and players show. */
const SIDE_MAX_PX = 8_192;

const FITS = ['inside', 'cover', 'contain', 'fill'] as const;

/** How large the picture of a film is drawn. */
export const filmSizeOptions = {
  width: whole(16, SIDE_MAX_PX, 'Width of the picture in pixels, rounded to an even number; without `height` the proportions stay.'),
  height: whole(16, SIDE_MAX_PX, 'Height of the picture in pixels, rounded to an even number; without `width` the proportions stay.'),
  fit: oneOf(FITS, 'With both `width` and `height`: `inside` (default) keeps the proportions, `cover` cuts what stands over, `contain` adds black bars, `fill` stretches.'),
};

/** Pictures a second; a film from an animation keeps the times of its pictures unless this is given. */
const fps = number(1, 120, 'Pictures a second. Default: as in the source.');

const picture = {
  ...part,
  ...filmSizeOptions,
  fps,
  rotate: z.literal([90, 180, 270], { error: 'must be 90, 180 or 270' }).optional().describe('Degrees clockwise, after the film has been put upright by its own mark. Default: not turned.'),
  video_bitrate: whole(50, 100_000, 'Kilobits a second for the picture, instead of `crf`. Default: as many as `crf` needs.'),
  keep_metadata: keepMetadata,
};

/** An animation has no sound that these could change. */
const sound = {
  mute: only(['video'], flag('Leave the sound out. Default false.')),
  sample_rate: only(['video'], soundOptions.sample_rate),
  channels: only(['video'], soundOptions.channels),
  volume: only(['video'], soundOptions.volume),
  audio_bitrate: only(['video'], bitrate(512, '80 for each channel, in webm 64 and in avi 96')),
};

const PRESETS = ['ultrafast', 'superfast', 'veryfast', 'faster', 'fast', 'medium', 'slow'] as const;

/** Options of a conversion to mp4, mov or mkv. */
export const mp4Options = z.strictObject({
  ...picture,
  ...sound,
  video_codec: oneOf(['h264', 'hevc'], '`h264` plays everywhere, `hevc` is smaller and slower to make. Default h264.'),
  crf: whole(0, 51, 'Loss of quality: 0 is none, 18 is hardly visible, 28 is small. Default 23 for h264 and 28 for hevc.'),
  preset: oneOf(PRESETS, 'How hard to compress; slower gives a smaller file of the same quality. Default veryfast.'),
});

/** Options of a conversion to webm. */
export const webmOptions = z.strictObject({
  ...picture,
  ...sound,
  video_codec: oneOf(['vp8', 'vp9'], '`vp9` is smaller, `vp8` plays on older devices. Default vp9.'),
  crf: whole(4, 63, 'Loss of quality: 15 is hardly visible, 40 is small. Default 33 for vp9 and 10 for vp8.'),
  preset: oneOf(['fast', 'good'], '`good` takes about ten times as long for a smaller file of the same quality. Default fast.'),
});

/** Options of a conversion to avi, which holds MPEG-4 part 2 and MP3 for old players. */
export const aviOptions = z.strictObject({ ...picture, ...sound });

/** All that is drawn as a picture but films, for which these options have no effect. */
const DRAWN: ForInputs = ['image', 'pdf', 'document', 'spreadsheet', 'presentation', 'iwork'];

/** What a gif made from a film is told besides size, `colors` and `loop`, and what counts only for pictures. */
export const gifFromFilm = {
  start: only(['video'], part.start),
  duration: only(['video'], part.duration),
  fps: only(['video'], number(1, 50, 'Pictures a second. Default 12; an animation has at most 500 pictures.')),
  enlarge: only(DRAWN, gifOptions.shape.enlarge),
  rotate: only(DRAWN, gifOptions.shape.rotate),
  flip: only(DRAWN, gifOptions.shape.flip),
  flop: only(DRAWN, gifOptions.shape.flop),
  grayscale: only(DRAWN, gifOptions.shape.grayscale),
  background: only(DRAWN, gifOptions.shape.background),
  keep_metadata: only(DRAWN, gifOptions.shape.keep_metadata),
  page: only(DRAWN, gifOptions.shape.page),
  effort: only(DRAWN, gifOptions.shape.effort),
};

/** What one picture of a film is told besides what every picture is, and what counts only for other sources. */
export const frameOptions = {
  start: only(['video'], part.start.describe('Which moment of a film is shown, seconds from its start. Default: a tenth of the way in.')),
  keep_metadata: only(DRAWN, gifOptions.shape.keep_metadata),
  page: only(DRAWN, gifOptions.shape.page),
};

/** What a film may be asked for; each target knows some of it. */
export const anyFilmOptions = z.object({
  ...picture,
  mute: sound.mute,
  video_codec: oneOf(['h264', 'hevc', 'vp8', 'vp9'], ''),
  crf: whole(0, 63, ''),
  preset: oneOf([...PRESETS, 'good'], ''),
  loop: whole(0, 65_535, ''),
  colors: whole(2, 256, ''),
});

/** The options of a film, after they were checked by the schema of their target. */
export type FilmOptions = z.infer<typeof anyFilmOptions>;
