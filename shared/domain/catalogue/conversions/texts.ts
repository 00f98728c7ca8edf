import type { FormatName } from '../formats.ts';
import type { Conversions } from './conversions.ts';

/** Text files, pages and books that are read without an office program. */
const PAGES: readonly FormatName[] = ['txt', 'html', 'md', 'epub'];

/** Documents that only an office program reads. */
const DOCUMENTS: readonly FormatName[] = ['docx', 'doc', 'odt', 'rtf'];

const WORKBOOKS: readonly FormatName[] = ['xlsx', 'xls', 'ods'];

/** Plain texts and pages, into and out of each other and the formats of office programs. */
export const TEXT_CONVERSIONS: readonly Conversions[] = [
  { engine: 'office', tools: ['libreoffice'], inputs: PAGES, outputs: ['pdf', ...DOCUMENTS], minutes_max: 1 },
  { engine: 'office', tools: ['libreoffice'], inputs: ['txt', 'html', 'md', ...DOCUMENTS], outputs: ['epub'], minutes_max: 1 },
  { engine: 'office', tools: ['libreoffice'], inputs: PAGES, outputs: ['html'], minutes_max: 1 },
  { engine: 'office', tools: ['libreoffice'], inputs: ['html', 'md', 'epub', ...DOCUMENTS], outputs: ['txt'], minutes_max: 1 },
  { engine: 'office', tools: ['libreoffice'], inputs: ['html', 'epub', ...DOCUMENTS], outputs: ['md'], minutes_max: 1 },
  { engine: 'office', tools: ['libreoffice'], inputs: [...DOCUMENTS, ...WORKBOOKS], outputs: ['html'], minutes_max: 1 },
  { engine: 'office', tools: ['libreoffice'], inputs: WORKBOOKS, outputs: ['csv'], minutes_max: 1 },
  { engine: 'office', tools: ['libreoffice'], inputs: ['csv'], outputs: ['pdf', 'html', ...WORKBOOKS], minutes_max: 1 },
];
