import type { FormatName } from '../../../../shared/domain/catalogue/formats.ts';

/** The parts of the suite; a format is read and written by one of them. */
export type Component = 'writer' | 'calc' | 'impress';

/** How the suite reads and writes a format. */
interface OfficeFormat {
  readonly component: Component;
  /** Filter that reads it. */
  readonly reads: string;
  /** Filter that writes it; undefined where the suite cannot. */
  readonly writes?: string;
}

/** Filters by their names in LibreOffice. A source is always read with the one named here, never with one that is guessed. */
export const OFFICE_FORMATS = {
  doc: { component: 'writer', reads: 'MS Word 97', writes: 'MS Word 97' },
  docx: { component: 'writer', reads: 'MS Word 2007 XML', writes: 'MS Word 2007 XML' },
  odt: { component: 'writer', reads: 'writer8', writes: 'writer8' },
  pages: { component: 'writer', reads: 'Apple Pages' },
  rtf: { component: 'writer', reads: 'Rich Text Format', writes: 'Rich Text Format' },
  txt: { component: 'writer', reads: 'Text (encoded)', writes: 'Text (encoded)' },
  html: { component: 'writer', reads: 'HTML (StarWriter)', writes: 'HTML (StarWriter)' },
  numbers: { component: 'calc', reads: 'Apple Numbers' },
  ods: { component: 'calc', reads: 'calc8', writes: 'calc8' },
  xls: { component: 'calc', reads: 'MS Excel 97', writes: 'MS Excel 97' },
  xlsx: { component: 'calc', reads: 'Calc MS Excel 2007 XML', writes: 'Calc MS Excel 2007 XML' },
  csv: { component: 'calc', reads: 'Text - txt - csv (StarCalc)', writes: 'Text - txt - csv (StarCalc)' },
  key: { component: 'impress', reads: 'Apple Keynote' },
  odp: { component: 'impress', reads: 'impress8', writes: 'impress8' },
  ppt: { component: 'impress', reads: 'MS PowerPoint 97', writes: 'MS PowerPoint 97' },
  pptx: { component: 'impress', reads: 'Impress MS PowerPoint 2007 XML', writes: 'Impress MS PowerPoint 2007 XML' },
} as const satisfies Partial<Record<FormatName, OfficeFormat>>;

/** A format that the suite reads. */
export type OfficeFormatName = keyof typeof OFFICE_FORMATS;

/** Filter of each component that writes PDF. */
export const PDF_FILTERS: Readonly<Record<Component, string>> = { writer: 'writer_pdf_Export', calc: 'calc_pdf_Export', impress: 'impress_pdf_Export' };

/** Flat XML: a whole document in one file that a program can write by itself; filters that read it. */
export const FLAT_FILTERS: Readonly<Record<Component, string>> = {
  writer: 'OpenDocument Text Flat XML',
  calc: 'OpenDocument Spreadsheet Flat XML',
  impress: 'OpenDocument Presentation Flat XML',
};

/** Filters that only a whole installation knows: one of each component. */
export const COMPONENT_FILTERS: readonly string[] = Object.values(PDF_FILTERS);

/** True when the suite reads the format. */
export function isOfficeFormat(format: FormatName): format is OfficeFormatName {
  return Object.hasOwn(OFFICE_FORMATS, format);
}
