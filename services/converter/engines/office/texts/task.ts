import { z } from 'zod';
import { DELIMITERS, INPUT_ENCODINGS, OUTPUT_ENCODINGS } from '../../../../../shared/domain/catalogue/options/text.ts';
import { FAILURE_CAUSES } from '../../failure.ts';

/** What the child reads. */
export const TEXT_INPUTS = ['txt', 'html', 'md', 'epub', 'csv'] as const;

/** What the child writes; `cells` is a csv that tells an office program which cells are text and which are numbers. */
export const TEXT_OUTPUTS = ['txt', 'html', 'md', 'epub', 'csv', 'cells'] as const;

/** Options of the child: those of all the targets that it has a part in, already let through by their schemas. */
export const textOptions = z.object({
  input_encoding: z.enum(INPUT_ENCODINGS).optional(),
  input_delimiter: z.enum(['auto', ...DELIMITERS]).optional(),
  detect_numbers: z.boolean().optional(),
  encoding: z.enum(OUTPUT_ENCODINGS).optional(),
  bom: z.boolean().optional(),
  line_endings: z.enum(['lf', 'crlf']).optional(),
  delimiter: z.enum(['auto', ...DELIMITERS]).optional(),
  images: z.enum(['embed', 'omit']).optional(),
  rows_max: z.int().min(1).optional(),
  columns_max: z.int().min(1).optional(),
});

/** Parsed `textOptions`. */
export type TextOptions = z.infer<typeof textOptions>;

/** One line on the child's stdin: what to do. Paths are relative to its working folder, the job's. */
export const textTask = z.object({
  source: z.string(),
  result: z.string(),
  input: z.enum(TEXT_INPUTS),
  output: z.enum(TEXT_OUTPUTS),
  options: textOptions,
});

/** What the child is asked to do. */
export type TextTask = z.infer<typeof textTask>;

/** One line on the child's stdout: what came of it. */
export const textAnswer = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('converted'), billable_ms: z.int().min(0) }),
  z.object({ kind: z.literal('failed'), cause: z.enum(FAILURE_CAUSES) }),
]);

/** What the child answers. */
export type TextAnswer = z.infer<typeof textAnswer>;
