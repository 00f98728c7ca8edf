import { z } from 'zod';
import { flag, oneOf, only, whole } from './field.ts';

/** Widest and highest picture that every target format can store (WebP has the lowest bound), in pixels. */
const DIMENSION_MAX_PX = 16_383;

/** How a picture is fitted into `width` × `height`. */
const FITS = ['inside', 'outside', 'cover', 'contain', 'fill'] as const;

const COLOUR_ERROR = 'must be a colour written #rrggbb or #rrggbbaa';

/** Options of every image target. */
export const common = {
  width: whole(1, DIMENSION_MAX_PX, 'Width of the result in pixels; without `height` the proportions stay.'),
  height: whole(1, DIMENSION_MAX_PX, 'Height of the result in pixels; without `width` the proportions stay.'),
  fit: oneOf(
    FITS,
    'With both `width` and `height`: `inside` (default) and `outside` keep the proportions and nothing is cut, `cover` cuts what stands over, `contain` fills up with `background`, `fill` stretches.',
  ),
  enlarge: flag('Whether a picture smaller than asked for is enlarged. Default true.'),
  rotate: whole(-360, 360, 'Degrees clockwise, after the picture has been put upright by its own orientation mark and mirrored. Default 0.'),
  flip: flag('Mirror top to bottom. Default false.'),
  flop: flag('Mirror left to right. Default false.'),
  grayscale: flag('Drop the colours. Default false.'),
  background: z
    .string({ error: COLOUR_ERROR })
    .regex(/^#([0-9a-f]{6}|[0-9a-f]{8})$/i, { error: COLOUR_ERROR })
    .optional()
    .describe('Colour `#rrggbb` or `#rrggbbaa` for corners and margins; when it is opaque, also put behind transparent parts. Default: transparent, or white where the format has no transparency.'),
  keep_metadata: flag('Keep EXIF, XMP and the colour profile, among them the place where a photograph was taken. Default false.'),
  page: whole(1, 10_000, 'Take only this page or frame of a source that has several, counted from 1. Default: the whole animation from gif or webp to gif or webp, else the first.'),
  density: only(['svg'], whole(1, 2400, 'Dots per inch at which an svg source is drawn. Default 72.')),
};

/** The options that every image target has; those of one target only are left out. */
export const commonImageOptions = z.object(common);

/** Options that decide what is drawn; the others decide how it is stored. */
export type CommonImageOptions = z.infer<typeof commonImageOptions>;

/** Quality of a lossy compression, with the default of its format. */
export function quality(preset: number) {
  return whole(1, 100, `Quality of the lossy compression, 100 is best. Default ${preset}.`);
}

/** Compression without loss, where a format offers both. */
export const lossless = flag('Compress without any loss; `quality` then has no effect. Default false.');
const loop = whole(0, 65_535, 'How often an animation plays, 0 is for ever. Default: as in the source.');
const chroma = oneOf(['4:2:0', '4:4:4'], 'How finely colour is stored; `4:4:4` keeps thin coloured lines sharp. Default 4:2:0.');

/** Options of a conversion to jpg. */
export const jpgOptions = z.strictObject({
  ...common,
  quality: quality(80),
  progressive: flag('Store the picture so that a browser can show it coarsely at once. Default false.'),
  optimize: flag('Spend more time for a smaller file of the same quality. Default false.'),
  chroma_subsampling: chroma,
});

/** Options of a conversion to png. */
export const pngOptions = z.strictObject({
  ...common,
  compression_level: whole(0, 9, 'How hard to compress, 9 is smallest and slowest. Default 6.'),
  colors: whole(2, 256, 'Reduce the picture to a palette of so many colours. Default: all colours.'),
  progressive: flag('Store the picture interlaced. Default false.'),
});

/** Options of a conversion to webp. */
export const webpOptions = z.strictObject({
  ...common,
  quality: quality(80),
  lossless,
  effort: whole(0, 6, 'How hard to compress, 6 is smallest and slowest. Default 4.'),
  loop,
});

/** Options of a conversion to gif. */
export const gifOptions = z.strictObject({
  ...common,
  colors: whole(2, 256, 'Colours of the palette. Default 256.'),
  effort: whole(1, 10, 'How hard to compress, 10 is smallest and slowest. Default 7.'),
  loop,
});

/** Options of a conversion to tiff. */
export const tiffOptions = z.strictObject({
  ...common,
  compression: oneOf(['none', 'lzw', 'deflate', 'jpeg'], 'Method of compression; only jpeg loses detail. Default lzw.'),
  quality: quality(80).describe('Quality with `compression` jpeg, 100 is best. Default 80.'),
});

/** Options of a conversion to avif. The default effort keeps a 12-megapixel photograph at about two seconds. */
export const avifOptions = z.strictObject({
  ...common,
  quality: quality(50),
  lossless,
  effort: whole(0, 9, 'How hard to compress, 9 is smallest and slowest. Default 2.'),
  chroma_subsampling: chroma,
});
