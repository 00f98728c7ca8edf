import { writeFile } from 'node:fs/promises';
import type { FormatName } from '../../../../shared/domain/catalogue/formats.ts';
import type { PageRange } from '../../../../shared/domain/catalogue/options/page-ranges.ts';
import { Defect } from '../../../../shared/errors/errors.ts';
import type { Flow } from './reflow/model.ts';
import { readPdf } from './reflow/read-pdf.ts';
import { reflow } from './reflow/reflow.ts';
import { writeFlatSheets } from './write/flat-sheets.ts';
import { writeFlatSlides } from './write/flat-slides.ts';
import { writeFlatText } from './write/flat-text.ts';
import { writeHtml } from './write/html.ts';
import { writeMarkdown } from './write/markdown.ts';

/**
 * Writes what a document says in a format that people edit; for office formats in flat XML, which the suite turns into them.
 * @throws EngineFailure what `readPdf` throws; Defect for a format that nothing flows into.
 */
export async function convertFlow(path: string, ranges: readonly Required<PageRange>[], result: string, output: FormatName): Promise<void> {
  await writeFile(result, writeFlow(reflow(await readPdf(path, ranges)), output));
}

function writeFlow(flow: Flow, output: FormatName): string {
  switch (output) {
    case 'docx':
    case 'odt':
    case 'rtf':
      return writeFlatText(flow);
    case 'xlsx':
    case 'ods':
      return writeFlatSheets(flow);
    case 'pptx':
    case 'odp':
      return writeFlatSlides(flow);
    case 'html':
      return writeHtml(flow);
    case 'md':
      return writeMarkdown(flow);
    default:
      throw new Defect(`nothing flows into ${output}`);
  }
}
