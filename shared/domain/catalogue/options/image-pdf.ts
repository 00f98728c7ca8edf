import { flag, number, oneOf, only, whole } from './field.ts';
import { common } from './image.ts';

const PICTURES = ['image'] as const;

/** What the options of every picture mean for a pdf that is made of pictures; all have an effect for pictures alone. */
const drawing = Object.fromEntries(Object.entries(common).map(([name, schema]) => [name, name === 'density' ? schema : only(PICTURES, schema)])) as typeof common;

/** Options of a conversion of pictures to pdf besides its paper; other sources of a pdf have options of their own. */
export const imagePdfOptions = {
  ...drawing,
  page: only(PICTURES, common.page.describe('Take only this page or frame of a source that has several, counted from 1. Default: all of them, one on each page.')),
  density: only(['svg'], whole(1, 2400, 'Dots per inch at which an svg source is drawn. Default 144.')),
  page_margin: only(PICTURES, number(0, 100, 'White border around the picture, millimetres. Default 0.')),
  page_fit: only(
    PICTURES,
    oneOf(['fit', 'fill', 'actual'], '`fit` shows the whole picture as large as the paper allows, `fill` covers the paper and cuts what stands over, `actual` goes by `dpi` and only shrinks what is too large. No effect with `paper_size` original. Default fit.'),
  ),
  dpi: only(PICTURES, whole(10, 2400, 'Dots of the picture to an inch of paper, for `paper_size` original and `page_fit` actual. Default: what the picture says, else 96.')),
  compression: only(PICTURES, oneOf(['auto', 'jpeg', 'lossless'], 'How pictures are stored. `auto` leaves a jpg untouched and stores avif, heic and webp as jpeg, all others without loss. Default auto.')),
  quality: only(PICTURES, whole(1, 100, 'Quality of pictures that are stored as jpeg, 100 is best; no effect on a jpg that stays as it is. Default 90.')),
  keep_metadata: only(PICTURES, flag('Leave EXIF and XMP in a jpg that stays as it is, among them the place where it was taken. Default false.')),
};
