import type { Conversions } from './conversions.ts';

/** What the pdf engine converts: pages to pictures and text, and their content to office formats. */
export const PDF_CONVERSIONS: readonly Conversions[] = [
  { engine: 'pdf', tools: ['poppler', 'qpdf', 'sharp'], inputs: ['pdf'], outputs: ['avif', 'gif', 'jpg', 'png', 'tiff', 'webp'] },
  { engine: 'pdf', tools: ['poppler', 'qpdf', 'sharp'], inputs: ['pdf'], outputs: ['zip'] },
  { engine: 'pdf', tools: ['poppler', 'qpdf'], inputs: ['pdf'], outputs: ['svg', 'txt'] },
  { engine: 'pdf', tools: ['qpdf', 'poppler'], inputs: ['pdf'], outputs: ['pdf'], toItself: true },
  // What a PDF says can be found out, but not how its author would have written it.
  { engine: 'pdf', tools: ['poppler', 'qpdf'], inputs: ['pdf'], outputs: ['html', 'md'], bestEffort: true },
  { engine: 'pdf', tools: ['poppler', 'qpdf', 'libreoffice'], inputs: ['pdf'], outputs: ['docx', 'odp', 'ods', 'odt', 'pptx', 'rtf', 'xlsx'], bestEffort: true },
];
