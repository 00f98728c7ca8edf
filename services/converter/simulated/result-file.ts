import { join } from 'node:path';
import type { FormatName } from '../../../shared/domain/catalogue/formats.ts';

/** Absolute path of the result that every test job with this output format is given (D65). The build copies them along. */
export function resultFile(format: FormatName): string {
  return join(import.meta.dirname, 'results', `result.${format}`);
}
