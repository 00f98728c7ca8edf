import { z } from 'zod';
import { FORMAT_NAMES } from '../../../../shared/domain/catalogue/formats.ts';
import { FAILURE_CAUSES } from '../failure.ts';
import { IMAGE_OUTPUTS } from './outputs.ts';

/** The libraries that work inside the child. */
const CHILD_TOOLS = ['sharp', 'libheif', 'pdfkit'] as const;

/** One of the libraries of the child. */
export type ChildTool = (typeof CHILD_TOOLS)[number];

/** One line on the child's stdin: what to do. Paths are relative to its working folder, the job's. */
export const imageJob = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('probe'), tool: z.enum(CHILD_TOOLS) }),
  z.object({
    kind: z.literal('convert'),
    source: z.string(),
    result: z.string(),
    input: z.enum(FORMAT_NAMES),
    output: z.enum(IMAGE_OUTPUTS),
    options: z.record(z.string(), z.unknown()),
  }),
]);

/** What the image child is asked to do. */
export type ImageJob = z.infer<typeof imageJob>;

/** The part of `ImageJob` that converts. */
export type ConvertJob = Extract<ImageJob, { kind: 'convert' }>;

/** One line on the child's stdout: what came of it. */
export const imageAnswer = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('probed'), version: z.string() }),
  z.object({ kind: z.literal('converted'), billable_ms: z.int().min(0) }),
  z.object({ kind: z.literal('failed'), cause: z.enum(FAILURE_CAUSES) }),
]);

/** What the image child answers. */
export type ImageAnswer = z.infer<typeof imageAnswer>;
