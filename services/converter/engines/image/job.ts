import { z } from 'zod';
import { FORMAT_NAMES, type FormatName } from '../../../../shared/domain/catalogue/formats.ts';
import { FAILURE_CAUSES } from '../failure.ts';

/** What sharp encodes. */
const IMAGE_OUTPUTS = ['avif', 'gif', 'jpg', 'png', 'tiff', 'webp'] as const;

/** One of the formats that sharp encodes. */
export type ImageOutput = (typeof IMAGE_OUTPUTS)[number];

/** True for a format that sharp encodes. */
export function isImageOutput(format: FormatName): format is ImageOutput {
  return IMAGE_OUTPUTS.some((output) => output === format);
}

/** One line on the child's stdin: what to do. Paths are relative to its working folder, the job's. */
export const imageJob = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('probe') }),
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
