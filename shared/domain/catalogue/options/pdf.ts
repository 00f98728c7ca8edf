import { z } from 'zod';
import { flag, oneOf, only, whole } from './field.ts';
import { pageRanges } from './page-ranges.ts';

/** Longest password that any version of PDF reads, in characters. */
const PASSWORD_MAX = 127;

const PASSWORD_ERROR = `must be one line of 1 to ${PASSWORD_MAX} characters`;

/** The password that opens a source. */
export const password = z
  .string({ error: PASSWORD_ERROR })
  .max(PASSWORD_MAX, { error: PASSWORD_ERROR })
  // A line break would end the line in which a password is handed on.
  .regex(/^[^\n\r\0]+$/, { error: PASSWORD_ERROR })
  .optional()
  .describe('The password that opens the file, where it is protected by one.');

const pages = pageRanges('Take only these pages, such as `1-3,5,8-`. Default: all.');
const dpi = whole(10, 1200, 'Dots per inch at which a page is drawn. Default: 150, or as many as `width` and `height` need.');

/** What every target format has for a PDF as its source, besides what it has for others. */
export const pdfSource = { pages: only(['pdf'], pages), password: only(['pdf'], password) };

/** What a picture has for a PDF as its source; `page` it has for every source. */
export const pdfPicture = { dpi: only(['pdf'], dpi), password: only(['pdf'], password) };

/** Options of a conversion to zip: one picture for each page. */
export const zipOptions = z.strictObject({
  pages,
  password,
  dpi: dpi.describe('Dots per inch at which the pages are drawn. Default 150.'),
  image_format: oneOf(['png', 'jpg'], 'Format of the pictures in the archive. Default png.'),
  quality: whole(1, 100, 'Quality of the compression with `image_format` jpg, 100 is best. Default 80.'),
});

/** Options of a conversion to svg. */
export const svgOptions = z.strictObject({
  page: whole(1, 10_000, 'The page to draw, counted from 1. Default 1.'),
  password,
});

/** What plain text has for a PDF as its source. */
export const pdfText = { ...pdfSource, layout: only(['pdf'], flag('Keep the columns and indents of the page with spaces. Default false: the text in the order in which it is read.')) };

/** What a PDF has for a PDF as its source. */
export const pdfToPdf = { ...pdfSource, linearize: only(['pdf'], flag('Order the file so that a browser can show its first page early. Default true.')) };
