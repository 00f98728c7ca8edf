import type { FormatName } from '../formats.ts';
import type { Conversions } from './conversions.ts';

/** Text files, pages and books that are read without an office program. */
const PAGES: readonly FormatName[] = ['txt', 'html', 'md', 'epub'];

/** Documents that only an office program reads. */
const DOCUMENTS: readonly FormatName[] = ['docx', 'doc', 'odt', 'rtf'];

const WORKBOOKS: readonly FormatName[] = ['xlsx', 'xls', 'ods'];

/** Plain texts and pages, into and out of each other and the formats of office programs. */
export const TEXT_CONVERSIONS: readonly Conversions[] = [
  { engine: 'office', tools: ['libreoffice'], inputs: PAGES, outputs: ['pdf', ...DOCUMENTS] },
  { engine: 'office', tools: ['libreoffice'], inputs: ['txt', 'html', 'md', ...DOCUMENTS], outputs: ['epub'] },
  { engine: 'office', tools: ['libreoffice'], inputs: PAGES, outputs: ['html'] },
  { engine: 'office', tools: ['libreoffice'], inputs: ['html', 'md', 'epub', ...DOCUMENTS], outputs: ['txt'] },
  { engine: 'office', tools: ['libreoffice'], inputs: ['html', 'epub', ...DOCUMENTS], outputs: ['md'] },
  { engine: 'office', tools: ['libreoffice'], inputs: [...DOCUMENTS, ...WORKBOOKS], outputs: ['html'] },
  { engine: 'office', tools: ['libreoffice'], inputs: WORKBOOKS, outputs: ['csv'] },
  { engine: 'office', tools: ['libreoffice'], inputs: ['csv'], outputs: ['pdf', 'html', ...WORKBOOKS] },
];
