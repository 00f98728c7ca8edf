import type { PAPER_SIZES } from '../../../../shared/domain/catalogue/options/office.ts';
import type { PdfOptions } from './pdf.ts';
import type { Size } from './size.ts';

/** Points to an inch, and to a millimetre; a point is the unit of a page. */
const INCH_POINTS = 72;
const MM_POINTS = INCH_POINTS / 25.4;

/** Width and height of papers lying upright, points. */
const PAPERS = { a3: [841.89, 1190.55], a4: [595.28, 841.89], a5: [419.53, 595.28], letter: [612, 792], legal: [612, 1008], tabloid: [792, 1224] } as const satisfies Record<(typeof PAPER_SIZES)[number], readonly [number, number]>;

/** The shortest and longest side of a page that readers of PDF show, points. */
const PAGE_SIDE_MIN = 3;
const PAGE_SIDE_MAX = 14_400;

/** A border never takes more than this part of the shorter side on each side, or nothing would be left. */
const MARGIN_PART_MAX = 0.45;

/** Dots to an inch where a picture says nothing; so screens have it. */
const SCREEN_DPI = 96;

/** What cameras and programs write who do not know; a higher number was meant. */
const MEANINGLESS_DPI = 72;
const DPI_MAX = 2400;

/** A place on a page, in points from its upper left corner. */
export interface Box extends Size {
  readonly x: number;
  readonly y: number;
}

/** How a picture lies on its page. */
export interface Layout {
  readonly page: Size;
  readonly place: Box;
  /** What of the page may be painted. */
  readonly clip: Box;
}

/** A picture of so many dots, upright. */
export interface Laid extends Size {
  /** Dots to an inch by its own account. */
  readonly density: number | undefined;
}

/** Chooses the page and where the picture goes. */
export function layOut(picture: Laid, options: PdfOptions): Layout {
  const { paper_size: paper = 'original', orientation: lies = 'auto', page_margin: marginMm = 0, page_fit: fit = 'fit' } = options;
  const natural = naturalSize(picture, options.dpi);
  const wanted = marginMm * MM_POINTS;
  if (paper === 'original') {
    const page = { width: natural.width + 2 * wanted, height: natural.height + 2 * wanted };
    const place = { x: wanted, y: wanted, ...natural };
    return { page, place, clip: place };
  }
  const [short, long] = PAPERS[paper];
  const wide = lies === 'auto' ? picture.width > picture.height : lies === 'landscape';
  const page = wide ? { width: long, height: short } : { width: short, height: long };
  const margin = Math.min(wanted, short * MARGIN_PART_MAX);
  const clip = { x: margin, y: margin, width: page.width - 2 * margin, height: page.height - 2 * margin };
  const scales = [clip.width / natural.width, clip.height / natural.height];
  const whole = Math.min(...scales);
  const scale = { fit: whole, fill: Math.max(...scales), actual: Math.min(1, whole) }[fit];
  const [width, height] = [natural.width * scale, natural.height * scale];
  return { page, place: { x: (page.width - width) / 2, y: (page.height - height) / 2, width, height }, clip };
}

/** In points; brought within what a page may be, with its proportions as far as that goes. */
function naturalSize({ width, height, density }: Laid, dpi: number | undefined): Size {
  const said = density !== undefined && density > MEANINGLESS_DPI && density <= DPI_MAX ? density : SCREEN_DPI;
  const points = INCH_POINTS / (dpi ?? said);
  const scale = Math.min(points, PAGE_SIDE_MAX / 2 / Math.max(width, height));
  return { width: Math.max(PAGE_SIDE_MIN, width * scale), height: Math.max(PAGE_SIDE_MIN, height * scale) };
}
