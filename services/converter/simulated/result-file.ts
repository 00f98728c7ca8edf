import { join } from 'node:path';
import type { FormatName } from '../../../shared/domain/formats.ts';
import { findProjectRoot } from '../../../shared/tools/project-root.ts';

/** Absolute path of the result that every test job with this output format is given (D65). */
export function resultFile(format: FormatName): string {
  return join(findProjectRoot(), 'services/converter/simulated/results', `result.${format}`);
}
