import { z } from 'zod';
import { FORMATS, type FormatName } from '../formats.ts';
import { aacOptions, flacOptions, mp3Options, oggOptions, opusOptions, pcmOptions, wmaOptions } from './audio.ts';
import { only } from './field.ts';
import { icoOptions, jp2Options, jxlOptions, plainImageOptions } from './image-containers.ts';
import { imagePdfOptions } from './image-pdf.ts';
import { avifOptions, gifOptions, jpgOptions, pngOptions, tiffOptions, webpOptions } from './image.ts';
import { officeOptions, officeToPdf, olderOfficeOptions } from './office.ts';
import { officeSource, pdfPicture, pdfText, pdfToPdf, svgOptions, zipOptions } from './pdf.ts';
import { csvCells, csvOptions, epubOptions, htmlOptions, mdOptions, textSource, txtText } from './text.ts';
import { aviOptions, frameOptions, gifFromFilm, mp4Options, webmOptions } from './video.ts';

/** The one schema of options for each target format; `/operations` and the OpenAPI description are made from it. */
export const OPTION_SCHEMAS = {
  aac: aacOptions,
  aiff: pcmOptions,
  avi: aviOptions,
  avif: avifOptions.extend(pdfPicture),
  bmp: plainImageOptions,
  csv: csvOptions,
  doc: olderOfficeOptions.extend(textSource),
  docx: officeOptions.extend({ ...officeSource, ...textSource }),
  epub: epubOptions,
  flac: flacOptions,
  gif: gifOptions.extend({ ...pdfPicture, ...gifFromFilm }),
  html: htmlOptions.extend(officeSource),
  ico: icoOptions,
  jp2: jp2Options,
  jpg: jpgOptions.extend({ ...pdfPicture, ...frameOptions }),
  jxl: jxlOptions,
  m4a: aacOptions,
  md: mdOptions.extend(officeSource),
  mkv: mp4Options,
  mov: mp4Options,
  mp3: mp3Options,
  mp4: mp4Options,
  odp: officeOptions.extend(officeSource),
  ods: officeOptions.extend({ ...officeSource, ...textSource, ...csvCells }),
  odt: officeOptions.extend({ ...officeSource, ...textSource }),
  ogg: oggOptions,
  opus: opusOptions,
  pcx: plainImageOptions,
  pdf: z.strictObject({ ...pdfToPdf, ...officeToPdf, ...textSource, ...csvCells, ...imagePdfOptions }),
  png: pngOptions.extend({ ...pdfPicture, ...frameOptions }),
  ppm: plainImageOptions,
  ppt: olderOfficeOptions,
  pptx: officeOptions.extend(officeSource),
  qoi: plainImageOptions,
  rtf: olderOfficeOptions.extend({ ...officeSource, ...textSource }),
  svg: svgOptions,
  tga: plainImageOptions,
  tiff: tiffOptions.extend(pdfPicture),
  txt: z.strictObject({ ...pdfText, ...officeSource, ...txtText }),
  wav: pcmOptions,
  webm: webmOptions,
  webp: webpOptions.extend({ ...pdfPicture, ...frameOptions, loop: only(['image'], webpOptions.shape.loop) }),
  wma: wmaOptions,
  xls: olderOfficeOptions.extend({ ...textSource, ...csvCells }),
  xlsx: officeOptions.extend({ ...officeSource, ...textSource, ...csvCells }),
  zip: zipOptions,
} as const satisfies Partial<Record<FormatName, z.ZodObject>>;

/** A format that something can be converted to. */
export type OutputFormat = keyof typeof OPTION_SCHEMAS;

/** True when the format is written by an engine, not only read. */
export function isOutputFormat(format: FormatName): format is OutputFormat {
  return Object.hasOwn(OPTION_SCHEMAS, format);
}

/** One bad option value; `message` names what is allowed. */
export interface OptionIssue {
  /** The option's key; the caller puts `tasks.<name>.options.` before it (D22). */
  readonly path: string;
  readonly message: string;
}

/** What came of the options that a client sent. */
export interface ParsedOptions {
  /** The known options with good values; JSON values only. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Keys that the target format does not know; they have no effect (D22). */
  readonly ignored: readonly string[];
  readonly issues: readonly OptionIssue[];
}

/** What an option says about the sources for which it has an effect; see `only`. */
const effect = z.object({ 'x-inputs': z.array(z.string()).optional() });

/** Sorts a client's options into those that count, those without effect on such a source, and those with a bad value (§2.3, D22). */
export function parseOptions(input: FormatName, output: OutputFormat, options: Readonly<Record<string, unknown>>): ParsedOptions {
  const shape: Readonly<Record<string, z.ZodType>> = OPTION_SCHEMAS[output].shape;
  const parsed: Record<string, unknown> = {};
  const ignored: string[] = [];
  const issues: OptionIssue[] = [];
  for (const [key, value] of Object.entries(options)) {
    const schema = Object.hasOwn(shape, key) ? shape[key] : undefined;
    if (schema === undefined) {
      ignored.push(key);
      continue;
    }
    const result = schema.safeParse(value);
    if (!result.success) issues.push({ path: key, message: result.error.issues[0]?.message ?? 'is not allowed' });
    else if (hasEffect(schema, input)) parsed[key] = result.data;
    else ignored.push(key);
  }
  return { options: parsed, ignored, issues };
}

function hasEffect(schema: z.ZodType, input: FormatName): boolean {
  const inputs = effect.parse(schema.meta() ?? {})['x-inputs'];
  return inputs === undefined || inputs.includes(input) || inputs.includes(FORMATS[input].category);
}
