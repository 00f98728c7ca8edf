import { z } from 'zod';
import { flag, oneOf, only, whole, type ForInputs } from './field.ts';
import { password } from './password.ts';

/** Sources whose text flows into pages, and so takes another paper. */
const TEXTS = ['doc', 'docx', 'odt', 'rtf', 'pages'] as const satisfies ForInputs;
/** Sources of sheets. */
const SHEETS = ['xls', 'xlsx', 'ods', 'numbers'] as const satisfies ForInputs;
/** Sources of slides. */
const SLIDES = ['ppt', 'pptx', 'odp', 'key'] as const satisfies ForInputs;

/** Every source that the office suite opens. */
export const OFFICE_SOURCES = [...TEXTS, ...SHEETS, ...SLIDES] as const satisfies ForInputs;

/** Those among them that the suite opens with a password. */
export const PROTECTED_OFFICE_SOURCES = ['doc', 'docx', 'odt', 'xls', 'xlsx', 'ods', 'pptx', 'odp'] as const satisfies ForInputs;

/** Texts that flow into pages of any size, whoever reads them. */
const FLOWING = [...TEXTS, 'txt', 'html', 'md', 'epub'] as const satisfies ForInputs;

/** Tables that are divided into pages. */
const TABLES = [...SHEETS, 'csv'] as const satisfies ForInputs;

/** Everything of which the office suite makes a PDF. */
export const PAGED_SOURCES = [...FLOWING, ...TABLES, ...SLIDES] as const satisfies ForInputs;

/** Names of paper sizes. */
export const PAPER_SIZES = ['a3', 'a4', 'a5', 'letter', 'legal', 'tabloid'] as const;

/** Levels of PDF/A that are written. */
export const PDF_A_LEVELS = ['1b', '2b', '3b'] as const;

/** Dots per inch to which pictures are reduced; the suite knows these. */
export const PICTURE_DPI = ['75', '150', '300', '600', '1200'] as const;

/** What `paper_size` may be: a paper, or what the source has. */
export const PAPERS = ['original', ...PAPER_SIZES] as const;

/** What `orientation` may be: how the paper lies, or as it lies in the source. */
export const ORIENTATIONS = ['auto', 'portrait', 'landscape'] as const;

const paper = {
  paper_size: only([...FLOWING, ...TABLES], oneOf(PAPERS, 'Paper of every page; `original` is that of the source. Default original.')),
  orientation: only([...FLOWING, ...TABLES], oneOf(ORIENTATIONS, 'How the paper lies; `auto` as in the source. Default auto.')),
};

/** The same for a PDF, which is also made of pictures. */
const paperOfPdf = {
  paper_size: only(['image', ...FLOWING, ...TABLES], oneOf(PAPERS, 'Paper of every page; `original` is that of the source, or as large as a picture. Default original.')),
  orientation: only(
    ['image', ...FLOWING, ...TABLES],
    oneOf(ORIENTATIONS, 'How the paper lies; `auto` as in the source, or as it suits a picture. No effect on a picture with `paper_size` original. Default auto.'),
  ),
};

/** What a PDF has for an office file as its source, its paper also for pictures, besides `pages` and `password`. */
export const officeToPdf = {
  ...paperOfPdf,
  fit_to_width: only(TABLES, flag('Make every sheet as small as it takes for all its columns to fit on one page. Default false.')),
  sheet_per_page: only(TABLES, flag('Put each sheet on one page as large as the sheet; paper and `fit_to_width` then have no effect. Default false.')),
  image_quality: only(PAGED_SOURCES, whole(1, 100, 'Quality of pictures in the result, 100 is best. Default 90.')),
  image_dpi: only(PAGED_SOURCES, oneOf(PICTURE_DPI, 'Reduce finer pictures to so many dots per inch. Default: they stay as they are.')),
  pdf_a: only(PAGED_SOURCES, oneOf(PDF_A_LEVELS, 'Write PDF/A of this level, for archives. Has no effect with `result_password`, which PDF/A forbids. Default: an ordinary PDF.')),
  tagged: only(PAGED_SOURCES, flag('Mark headings, lists and tables for people who have the text read to them. Default true.')),
  bookmarks: only(PAGED_SOURCES, flag('Make bookmarks out of headings, sheets or slides. Default true.')),
  notes: only(SLIDES, flag('Add a page with the notes for each slide. Default false.')),
  hidden_slides: only(SLIDES, flag('Include slides that are hidden. Default false.')),
  result_password: only(PAGED_SOURCES, password.describe('Password that the result asks for when it is opened. Default: none.')),
};

/** What an office target has, whatever its kind. */
const file = {
  password: only(PROTECTED_OFFICE_SOURCES, password),
  result_password: only(PAGED_SOURCES, password.describe('Password that the result asks for when it is opened. Default: none.')),
};

/** Options of a conversion to a newer or open office format. */
export const officeOptions = z.strictObject({ ...file, ...paper });

/** Options of a conversion to an older office format, whose protection is none, or to RTF, which has none. */
export const olderOfficeOptions = z.strictObject({ password: file.password, ...paper });
