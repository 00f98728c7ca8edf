import type { FormatName } from '../formats.ts';
import type { Conversions } from './conversions.ts';

/** Text files, pages and books that are read without an office program. */
const PAGES: readonly FormatName[] = ['txt', 'html', 'md', 'epub'];

/** Documents that only an office program reads. */
const DOCUMENTS: readonly FormatName[] = ['docx', 'doc', 'odt', 'rtf'];

const WORKBOOKS: readonly FormatName[] = ['xlsx', 'xls', 'ods'];

/** Our own program before or after the office program. */
const BOTH = { engine: 'office', tools: ['libreoffice', 'texts'] } as const;
const ALONE = { engine: 'office', tools: ['texts'] } as const;

/** Plain texts and pages, into and out of each other and the formats of office programs. */
export const TEXT_CONVERSIONS: readonly Conversions[] = [
  { ...ALONE, inputs: PAGES, outputs: ['html'] },
  { ...ALONE, inputs: ['html', 'md', 'epub'], outputs: ['txt'] },
  { ...ALONE, inputs: ['html', 'epub'], outputs: ['md'] },
  { ...ALONE, inputs: ['txt', 'html', 'md'], outputs: ['epub'] },
  { ...ALONE, inputs: ['csv'], outputs: ['html'] },
  // To itself because people want another encoding, other ends of lines, another delimiter.
  { ...ALONE, inputs: ['txt'], outputs: ['txt'], toItself: true },
  { ...ALONE, inputs: ['csv'], outputs: ['csv'], toItself: true },
  { ...BOTH, inputs: PAGES, outputs: ['pdf', ...DOCUMENTS] },
  { ...BOTH, inputs: DOCUMENTS, outputs: ['epub', 'html', 'md', 'txt'] },
  { ...BOTH, inputs: WORKBOOKS, outputs: ['csv', 'html'] },
  { ...BOTH, inputs: ['csv'], outputs: ['pdf', ...WORKBOOKS] },
];
