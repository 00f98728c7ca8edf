import { z } from 'zod';
import { FORMAT_NAMES } from '../../../../shared/domain/catalogue/formats.ts';
import { FAILURE_CAUSES } from '../failure.ts';

/** One line on the child's stdin: what to do. Paths are relative to its working folder, the job's. */
export const pdfJob = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('probe') }),
  z.object({
    kind: z.literal('convert'),
    source: z.string(),
    result: z.string(),
    output: z.enum(FORMAT_NAMES),
    options: z.record(z.string(), z.unknown()),
  }),
]);

/** What the child is asked to do. */
export type PdfJob = z.infer<typeof pdfJob>;

/** The part of `PdfJob` that converts. */
export type PdfConversion = Extract<PdfJob, { kind: 'convert' }>;

const toolState = z.union([
  z.object({ available: z.literal(true), version: z.string() }),
  z.object({ available: z.literal(false), reason: z.string() }),
]);

/** One line on the child's stdout: what came of it. */
export const pdfAnswer = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('probed'), poppler: toolState, qpdf: toolState }),
  z.object({ kind: z.literal('converted'), billable_ms: z.int().min(0) }),
  z.object({ kind: z.literal('failed'), cause: z.enum(FAILURE_CAUSES) }),
]);

/** What the child answers. */
export type PdfAnswer = z.infer<typeof pdfAnswer>;
