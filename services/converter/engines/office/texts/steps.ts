import { z } from 'zod';
import type { FormatName } from '../../../../../shared/domain/catalogue/formats.ts';
import { WRITTEN_NUMBERS } from '../../../../../shared/domain/catalogue/options/text.ts';
import { Defect } from '../../../../../shared/errors/errors.ts';
import { exportOf } from '../export.ts';
import { isOfficeFormat, OFFICE_FORMATS, type Component } from '../filters.ts';
import type { OfficeTask } from '../pool.ts';
import type { Plan } from './plan.ts';
import { textOptions, type TextOptions } from './task.ts';

/** UTF-8, lines ended by LF; fonts and language as the office program has them. */
const TEXT_SETTINGS = 'UTF8,LF,,,';

/** Between cells a tab (9), around text quotes (34), UTF-8 (76), from the first line, columns of no special kind, English (1033), what is quoted is text. */
const CELLS_SETTINGS = '9,34,76,1,,1033,true';

/** The rest of `CELLS_SETTINGS`: nothing is trimmed and nothing is a formula; before it stands whether dates and the like are found. */
const CELLS_SETTINGS_END = 'false,false,false,,false';

/** Commas, quotes where needed, UTF-8, from the first line, columns of no special kind, English, texts not always quoted, numbers unquoted. */
const CSV_SETTINGS = '44,34,76,1,,1033,false,true';

/** The rest of `CSV_SETTINGS`: values instead of formulas, nothing trimmed; before it stands whether cells are as they are shown, after it the number of the sheet. */
const CSV_SETTINGS_END = 'false,false';

/** Pictures become part of the page. */
const PAGE_SETTINGS = 'EmbedImages';

/** The office program writes pages of workbooks with another filter than pages of documents. */
const WORKBOOK_PAGE_FILTER = 'HTML (StarCalc)';

/** What a sheet of the older format holds; the office program would drop the rest without a word. */
const XLS_LIMITS = { rows_max: 65_536, columns_max: 256 } as const;

/** The options that the office program is told; each was checked by the schema of its target. */
const known = z.object({ password: z.string().optional(), sheet: z.int().default(1), detect_numbers: z.boolean().default(false), numbers: z.enum(WRITTEN_NUMBERS).default('shown') });

/** Under which options our own program reads a source that the office program is given next. */
export function optionsBefore(options: Readonly<Record<string, unknown>>, output: FormatName): TextOptions {
  const { input_encoding, detect_numbers, delimiter } = textOptions.parse(options);
  return { input_encoding, detect_numbers, input_delimiter: delimiter, ...(output === 'xls' ? XLS_LIMITS : {}) };
}

/** Under which options our own program does all of it; of a csv that is also written as one, both delimiters may be asked for. */
export function optionsAlone(options: Readonly<Record<string, unknown>>, output: FormatName): TextOptions {
  const asked = textOptions.parse(options);
  return output === 'csv' ? asked : { ...asked, input_delimiter: asked.delimiter };
}

/** Under which options our own program reads what the office program wrote, and writes the result. */
export function optionsAfter(options: Readonly<Record<string, unknown>>): TextOptions {
  return { ...textOptions.parse(options), input_encoding: 'utf-8', input_delimiter: 'comma' };
}

/** How the office program is to read one format and write the other; texts are in UTF-8 on both sides. */
export function officeTask({ input, output }: NonNullable<Plan['office']>, options: Readonly<Record<string, unknown>>): Omit<OfficeTask, 'organizationId' | 'job' | 'source' | 'result'> {
  if (!isOfficeFormat(input)) throw new Defect(`the office program does not read ${input}`);
  const { component, reads } = OFFICE_FORMATS[input];
  const { password, sheet, detect_numbers, numbers } = known.parse(options);
  return {
    importFilter: reads,
    ...importSettings(input, detect_numbers),
    ...exportOf(input, output, options),
    ...exportSettings(component, output, sheet, numbers === 'shown'),
    ...(password === undefined ? {} : { password }),
  };
}

function importSettings(input: FormatName, detectNumbers: boolean): Pick<OfficeTask, 'importOptions'> {
  if (input === 'txt') return { importOptions: TEXT_SETTINGS };
  return input === 'csv' ? { importOptions: `${CELLS_SETTINGS},${detectNumbers},${CELLS_SETTINGS_END}` } : {};
}

function exportSettings(component: Component, output: FormatName, sheet: number, asShown: boolean): Partial<Pick<OfficeTask, 'exportFilter' | 'exportOptions' | 'sheet'>> {
  if (output === 'html') return { exportOptions: PAGE_SETTINGS, ...(component === 'calc' ? { exportFilter: WORKBOOK_PAGE_FILTER } : {}) };
  if (output === 'txt') return { exportOptions: TEXT_SETTINGS };
  return output === 'csv' ? { exportOptions: `${CSV_SETTINGS},${asShown},${CSV_SETTINGS_END},${sheet}`, sheet } : {};
}
