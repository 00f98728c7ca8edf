import { z } from 'zod';
import type { FormatName } from '../../../../shared/domain/catalogue/formats.ts';
import { selectPages, type PageRange } from '../../../../shared/domain/catalogue/options/page-ranges.ts';
import { EngineFailure } from '../failure.ts';
import { checkWhole, inspectPdf } from './inspect.ts';
import { convertFlow } from './flow.ts';
import type { PdfConversion } from './job.ts';
import { convertPage, convertPages } from './pictures.ts';
import { rewritePdf } from './rewrite.ts';
import { convertText } from './text.ts';
import { runToolWell } from './tool.ts';
import { unlock } from './unlock.ts';

/** Targets that show a page and do not let its text be copied. */
const PICTURES: ReadonlySet<FormatName> = new Set(['avif', 'gif', 'jpg', 'png', 'tiff', 'webp', 'zip']);

/** The options of this module; each was checked by the schema of its target, which only knows some of them. */
const known = z.object({
  page: z.int().min(1).default(1),
  pages: z.string().optional(),
  password: z.string().optional(),
  layout: z.boolean().default(false),
  linearize: z.boolean().default(true),
});

/**
 * Converts one document; the process it runs in is thrown away afterwards.
 * @throws EngineFailure when the source cannot be converted; anything else is a fault of this machine.
 */
export async function convertPdf({ source, result, output, options }: PdfConversion): Promise<void> {
  const { page, pages, password, layout, linearize } = known.parse(options);
  await checkWhole(source);
  const { path, byPassword } = await unlock(source, password);
  const info = await inspectPdf(path);
  // Whoever knows a password of the file may do what its author forbids to others.
  if (info.copyForbidden && !byPassword && !PICTURES.has(output)) throw new EngineFailure('password_required');
  const ranges = selectPages(pages, info.pages);
  if (ranges === undefined || page > info.pages) throw new EngineFailure('page_not_found');
  switch (output) {
    case 'avif':
    case 'gif':
    case 'jpg':
    case 'png':
    case 'tiff':
    case 'webp':
      return convertPage({ path, pages: info.pages }, result, output, options);
    case 'zip':
      return convertPages(path, listPages(ranges), result, options);
    case 'svg':
      await runToolWell('pdftocairo', ['-q', '-svg', '-f', String(page), '-l', String(page), path, result]);
      return;
    case 'txt':
      return convertText(path, ranges, result, layout);
    case 'pdf':
      return rewritePdf(path, ranges, result, linearize);
    default:
      return convertFlow(path, ranges, result, output);
  }
}

function listPages(ranges: readonly Required<PageRange>[]): readonly number[] {
  return [...new Set(ranges.flatMap(({ first, last = first }) => Array.from({ length: last - first + 1 }, (_, index) => first + index)))];
}
