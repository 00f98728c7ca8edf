import { z } from 'zod';
import { whole } from './field.ts';
import { common, lossless, quality } from './image.ts';

/** Sides of the pictures that an icon may hold, pixels. */
const ICON_SIDES_PX = [16, 20, 24, 32, 40, 48, 64, 96, 128, 256] as const;

const ICON_SIZES_ERROR = `must be a list of different sizes out of ${ICON_SIDES_PX.join(', ')}`;

/** Options of conversions to formats that have nothing to choose but the picture itself: bmp, pcx, ppm, qoi, tga. */
export const plainImageOptions = z.strictObject(common);

/** Options of a conversion to ico. */
export const icoOptions = z.strictObject({
  ...common,
  sizes: z
    .array(z.literal(ICON_SIDES_PX, { error: ICON_SIZES_ERROR }), { error: ICON_SIZES_ERROR })
    .min(1, { error: ICON_SIZES_ERROR })
    .max(ICON_SIDES_PX.length, { error: ICON_SIZES_ERROR })
    .refine((sizes) => new Set(sizes).size === sizes.length, { error: ICON_SIZES_ERROR })
    .optional()
    .describe('Sides in pixels of the pictures in the icon, such as `[16, 32, 48]`; each is a square in which the whole picture fits. Default: one picture of the size asked for, or as large as an icon may be, 256 × 256.'),
});

/** Options of a conversion to jp2. */
export const jp2Options = z.strictObject({ ...common, quality: quality(80), lossless });

/** Options of a conversion to jxl. The default effort keeps a 12-megapixel photograph at a few seconds. */
export const jxlOptions = z.strictObject({
  ...common,
  quality: quality(90),
  lossless,
  effort: whole(1, 9, 'How hard to compress, 9 is smallest and slowest. Default 3.'),
});
