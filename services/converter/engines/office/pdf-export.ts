import { z } from 'zod';
import { PDF_A_LEVELS, PICTURE_DPI } from '../../../../shared/domain/catalogue/options/office.ts';
import { parsePageRanges } from '../../../../shared/domain/catalogue/options/page-ranges.ts';
import { EngineFailure } from '../failure.ts';
import { PDF_FILTERS, type Component } from './filters.ts';
import { pageStyleOf } from './page-style.ts';
import type { OfficeTask } from './pool.ts';

/** Numbers by which the suite knows versions of PDF. */
const PDF_VERSIONS: Readonly<Record<(typeof PDF_A_LEVELS)[number], number>> = { '1b': 1, '2b': 2, '3b': 3 };

/** The options of this module; each was checked by the schema of its target, which only knows some of them. */
const known = z.object({
  pages: z.string().optional(),
  image_quality: z.int().optional(),
  image_dpi: z.enum(PICTURE_DPI).optional(),
  pdf_a: z.enum(PDF_A_LEVELS).optional(),
  tagged: z.boolean().default(true),
  bookmarks: z.boolean().default(true),
  notes: z.boolean().default(false),
  hidden_slides: z.boolean().default(false),
  sheet_per_page: z.boolean().default(false),
  result_password: z.string().optional(),
});

/** The part of a task that says how a PDF is written. */
export type PdfExport = Pick<OfficeTask, 'exportFilter' | 'exportData' | 'pageStyle' | 'pageRanges' | 'countPages'>;

/**
 * What the options of a conversion to PDF mean for a document that this part of the suite has opened.
 * @throws EngineFailure `page_not_found` for a range that runs backwards.
 */
export function pdfExport(options: Readonly<Record<string, unknown>>, component: Component): PdfExport {
  const { pages, image_quality, image_dpi, pdf_a, tagged, bookmarks, notes, hidden_slides, sheet_per_page, result_password } = known.parse(options);
  const pageStyle = pageStyleOf(options, component);
  return {
    exportFilter: PDF_FILTERS[component],
    exportData: {
      UseTaggedPDF: tagged,
      ExportBookmarks: bookmarks,
      ExportNotesPages: notes,
      ExportHiddenSlides: hidden_slides,
      SinglePageSheets: sheet_per_page,
      ...(image_quality === undefined ? {} : { Quality: image_quality }),
      ...(image_dpi === undefined ? {} : { ReduceImageResolution: true, MaxImageResolution: Number(image_dpi) }),
      ...(result_password === undefined ? archive(pdf_a) : { EncryptFile: true, DocumentOpenPassword: result_password }),
    },
    countPages: true,
    ...(pageStyle === undefined ? {} : { pageStyle }),
    ...(pages === undefined ? {} : { pageRanges: rangesOf(pages) }),
  };
}

function archive(level: (typeof PDF_A_LEVELS)[number] | undefined): Readonly<Record<string, number>> {
  return level === undefined ? {} : { SelectPdfVersion: PDF_VERSIONS[level] };
}

function rangesOf(pages: string): NonNullable<OfficeTask['pageRanges']> {
  const ranges = parsePageRanges(pages);
  if (ranges.some(({ first, last }) => last !== undefined && last < first)) throw new EngineFailure('page_not_found');
  return ranges.map(({ first, last }) => [first, last ?? null]);
}
