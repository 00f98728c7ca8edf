import { z } from 'zod';
import { flag, oneOf, only, whole, type ForInputs } from './field.ts';
import { PROTECTED_OFFICE_SOURCES } from './office.ts';
import { password } from './password.ts';

/** Encodings in which a text can be written. */
export const OUTPUT_ENCODINGS = [
  'utf-8', 'utf-16le', 'utf-16be', 'windows-1250', 'windows-1251', 'windows-1252', 'windows-1253', 'windows-1254', 'windows-1257',
  'iso-8859-2', 'iso-8859-15', 'koi8-r', 'macintosh', 'ibm866',
] as const;

/** Encodings in which a text can be read. */
export const INPUT_ENCODINGS = ['auto', ...OUTPUT_ENCODINGS, 'shift_jis', 'euc-jp', 'gb18030', 'big5', 'euc-kr'] as const;

/** What stands between the cells of a row; `auto` looks at the first rows. */
export const DELIMITERS = ['comma', 'semicolon', 'tab', 'pipe'] as const;

/** How the numbers of a workbook are written in a csv. */
export const WRITTEN_NUMBERS = ['shown', 'full'] as const;

/** Sheets that a workbook may have. */
const SHEETS_MAX = 10_000;

const inputEncoding = oneOf(
  INPUT_ENCODINGS,
  'Encoding of a text source. Default `auto`: its byte order mark, what a web page says of itself, utf-8 where it is valid, else windows-1252.',
);

const inputDelimiter = oneOf(['auto', ...DELIMITERS], 'What stands between the cells of a csv source. Default `auto`: found out from its first rows.');

/** How a text source is read; part of every target that such a source can become. */
export const textSource = { input_encoding: only(['txt', 'csv', 'html', 'md'], inputEncoding) };

/** How a csv source is read for a target that shows it as it is. */
export const csvSource = { delimiter: only(['csv'], inputDelimiter) };

/** How a csv source becomes cells of a workbook. */
export const csvCells = {
  ...csvSource,
  detect_numbers: only(
    ['csv'],
    flag(
      'Whether cells that look like dates, times, percentages, or numbers of any length and with leading zeros become such values. Default false: only plain decimal numbers of up to 15 digits become numbers, all else stays text. Nothing ever becomes a formula.',
    ),
  ),
};

const writtenText = {
  encoding: oneOf(OUTPUT_ENCODINGS, 'Encoding of the result; what it has no sign for becomes `?`. Default utf-8.'),
  bom: flag('Whether the result begins with a byte order mark; only in utf-8 and utf-16. Default true for utf-16, else false.'),
  line_endings: oneOf(['lf', 'crlf'], 'How lines end in the result. Default lf for txt, crlf for csv.'),
};

/** Sources that our own program reads or writes as text; a text out of a PDF is made by another. */
const TEXT_RESULTS = ['txt', 'html', 'md', 'epub', 'doc', 'docx', 'odt', 'rtf'] as const satisfies ForInputs;

const WORKBOOKS = ['xls', 'xlsx', 'ods'] as const satisfies ForInputs;

const protectedSource = { password: only(PROTECTED_OFFICE_SOURCES, password) };

const images = oneOf(['embed', 'omit'], 'Whether pictures are kept inside the file, as `data:` addresses. Default embed.');

/** What plain text has for every source but a PDF. */
export const txtText = {
  ...textSource,
  encoding: only(TEXT_RESULTS, writtenText.encoding),
  bom: only(TEXT_RESULTS, writtenText.bom),
  line_endings: only(TEXT_RESULTS, writtenText.line_endings),
};

/** Options of a conversion to csv. */
export const csvOptions = z.strictObject({
  ...protectedSource,
  ...textSource,
  input_delimiter: only(['csv'], inputDelimiter),
  ...writtenText,
  delimiter: oneOf(DELIMITERS, 'What stands between cells in the result. Default comma.'),
  sheet: only(WORKBOOKS, whole(1, SHEETS_MAX, 'Which sheet is written, counted from 1. Default 1.')),
  numbers: only(WORKBOOKS, oneOf(WRITTEN_NUMBERS, 'How numbers and dates are written: `shown` as the sheet shows them, rounded and with its signs, `full` with all of their digits, and dates as 01/31/2023. Default shown.')),
});

/** Options of a conversion to html. */
export const htmlOptions = z.strictObject({ ...textSource, ...csvSource, images: only(['md', 'epub', 'doc', 'docx', 'odt', 'rtf', 'xls', 'xlsx', 'ods'], images) });

/** Options of a conversion to md. */
export const mdOptions = z.strictObject({ ...textSource, images: only(['html', 'epub', 'doc', 'docx', 'odt', 'rtf'], images) });

/** Options of a conversion to epub. */
export const epubOptions = z.strictObject({ ...protectedSource, ...textSource });
