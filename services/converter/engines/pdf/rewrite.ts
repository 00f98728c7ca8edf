import type { PageRange } from '../../../../shared/domain/catalogue/options/page-ranges.ts';
import { EngineFailure } from '../failure.ts';
import { runTool } from './tool.ts';

/** qpdf ends with this when it could repair what it complains about. */
const WITH_WARNINGS = 3;

/**
 * Writes a document anew with only some of its pages, without what the file no longer needs.
 * @throws EngineFailure `damaged`.
 */
export async function rewritePdf(path: string, ranges: readonly Required<PageRange>[], result: string, linearize: boolean): Promise<void> {
  const pages = ranges.map(({ first, last }) => `${first}-${String(last)}`).join(',');
  const { code } = await runTool('qpdf', [...(linearize ? ['--linearize'] : []), '--object-streams=generate', path, '--pages', '.', pages, '--', result]);
  if (code !== 0 && code !== WITH_WARNINGS) throw new EngineFailure('damaged');
}
