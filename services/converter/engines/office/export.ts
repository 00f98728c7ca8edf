import { z } from 'zod';
import type { FormatName } from '../../../../shared/domain/catalogue/formats.ts';
import { Defect } from '../../../../shared/errors/errors.ts';
import { isOfficeFormat, OFFICE_FORMATS, type OfficeFormatName } from './filters.ts';
import { pageStyleOf } from './page-style.ts';
import { pdfExport } from './pdf-export.ts';
import type { OfficeTask } from './pool.ts';

/** The options of this module; each was checked by the schema of its target. */
const known = z.object({ result_password: z.string().optional() });

/** How the suite is to write what it read as `input`; `options` are those of the target. */
export function exportOf(input: OfficeFormatName, output: FormatName, options: Readonly<Record<string, unknown>>): Omit<OfficeTask, 'organizationId' | 'job' | 'source' | 'result' | 'importFilter'> {
  const { component } = OFFICE_FORMATS[input];
  if (output === 'pdf') return pdfExport(options, component);
  const target = isOfficeFormat(output) ? OFFICE_FORMATS[output] : undefined;
  if (target === undefined || !('writes' in target)) throw new Defect(`the office suite does not write ${output}`);
  const { result_password } = known.parse(options);
  const pageStyle = pageStyleOf(options, component);
  return { exportFilter: target.writes, ...(pageStyle === undefined ? {} : { pageStyle }), ...(result_password === undefined ? {} : { resultPassword: result_password }) };
}
