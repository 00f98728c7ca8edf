import { z } from 'zod';
import { flag, oneOf, only, whole } from './field.ts';
import { OFFICE_SOURCES, PAGED_SOURCES, PROTECTED_OFFICE_SOURCES } from './office.ts';
import { pageRanges } from './page-ranges.ts';
import { password } from './password.ts';

const pages = pageRanges('Take only these pages, such as `1-3,5,8-`. Default: all.');
const dpi = whole(10, 1200, 'Dots per inch at which a page is drawn. Default: 150, or as many as `width` and `height` need.');

/** What every target format has for a PDF as its source, besides what it has for others. */
const pdfSource = { pages: only(['pdf'], pages), password: only(['pdf'], password) };

/** What an office format has for a PDF or another office file as its source. */
export const officeSource = { pages: only(['pdf'], pages), password: only(['pdf', ...PROTECTED_OFFICE_SOURCES], password) };

/** What a picture has for a source of pages; `page` it has for every source. */
export const pdfPicture = { dpi: only(['pdf', ...OFFICE_SOURCES], dpi), password: only(['pdf', ...PROTECTED_OFFICE_SOURCES], password) };

/** Options of a conversion to zip: one picture for each page. */
export const zipOptions = z.strictObject({
  pages,
  password: only(['pdf', ...PROTECTED_OFFICE_SOURCES], password),
  dpi: dpi.describe('Dots per inch at which the pages are drawn. Default 150.'),
  image_format: oneOf(['png', 'jpg'], 'Format of the pictures in the archive. Default png.'),
  quality: whole(1, 100, 'Quality of the compression with `image_format` jpg, 100 is best. Default 80.'),
});

/** Options of a conversion to svg. */
export const svgOptions = z.strictObject({
  page: whole(1, 10_000, 'The page to draw, counted from 1. Default 1.'),
  password: only(['pdf', ...PROTECTED_OFFICE_SOURCES], password),
});

/** What plain text has for a PDF as its source. */
export const pdfText = { ...pdfSource, layout: only(['pdf'], flag('Keep the columns and indents of the page with spaces. Default false: the text in the order in which it is read.')) };

/** What a PDF has for a source of pages. */
export const pdfToPdf = {
  pages: only(['pdf', ...PAGED_SOURCES], pages),
  password: only(['pdf', ...PROTECTED_OFFICE_SOURCES], password),
  linearize: only(['pdf'], flag('Order the file so that a browser can show its first page early. Default true.')),
};
