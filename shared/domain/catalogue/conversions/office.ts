import type { FormatName } from '../formats.ts';
import type { Conversions } from './conversions.ts';

const TEXTS: readonly FormatName[] = ['doc', 'docx', 'odt', 'rtf'];
const SHEETS: readonly FormatName[] = ['ods', 'xls', 'xlsx'];
const SLIDES: readonly FormatName[] = ['odp', 'ppt', 'pptx'];
/** Pages are drawn out of a PDF. */
const PICTURES: readonly FormatName[] = ['jpg', 'png', 'webp', 'zip'];

/** A suite, and what draws pages. */
const DRAWN = ['libreoffice', 'poppler', 'qpdf', 'sharp'] as const;

/** What the office engine converts. */
export const OFFICE_CONVERSIONS: readonly Conversions[] = [
  { engine: 'office', tools: ['libreoffice'], inputs: TEXTS, outputs: [...TEXTS, 'pdf'] },
  { engine: 'office', tools: ['libreoffice'], inputs: SHEETS, outputs: [...SHEETS, 'pdf'] },
  { engine: 'office', tools: ['libreoffice'], inputs: SLIDES, outputs: [...SLIDES, 'pdf'] },
  { engine: 'office', tools: [...DRAWN], inputs: [...TEXTS, ...SHEETS, ...SLIDES], outputs: PICTURES },
  { engine: 'office', tools: ['libreoffice', 'poppler', 'qpdf'], inputs: SLIDES, outputs: ['svg'] },
  { engine: 'office', tools: ['libreoffice'], inputs: ['pages'], outputs: ['docx', 'pdf'], bestEffort: true },
  { engine: 'office', tools: ['libreoffice'], inputs: ['numbers'], outputs: ['xlsx', 'pdf'], bestEffort: true },
  { engine: 'office', tools: ['libreoffice'], inputs: ['key'], outputs: ['pptx', 'pdf'], bestEffort: true },
  { engine: 'office', tools: [...DRAWN], inputs: ['pages', 'numbers', 'key'], outputs: PICTURES, bestEffort: true },
];
