import type { KeyObject } from 'node:crypto';
import { z } from 'zod';
import type { JobTyped } from '../domain/job-view.ts';
import { Defect } from '../errors/errors.ts';
import { open, seal } from './seal.ts';

const name = z.string().min(1);

/** What a client typed into a job, as it lies sealed in `job.created` (D88). */
const typedSchema = z.object({
  tag: z.string().optional(),
  task_names: z.object({ import: name, convert: name, export: name }),
  options: z.record(z.string(), z.unknown()),
  ignored_options: z.array(z.string()),
});

/** Seals what a client typed under the key of its job. */
export function sealTyped(key: KeyObject, organizationId: string, jobId: string, typed: JobTyped): string {
  return seal(key, typed, associatedData(organizationId, jobId));
}

/** Opens it again. Throws `Defect` when it was altered, moved to another job, or is not of our making. */
export function openTyped(key: KeyObject, organizationId: string, jobId: string, sealed: string): JobTyped {
  const parsed = typedSchema.safeParse(open(key, sealed, associatedData(organizationId, jobId)));
  if (!parsed.success) throw new Defect('what a client typed has an unknown shape', { cause: parsed.error });
  return parsed.data;
}

function associatedData(organizationId: string, jobId: string): string {
  return `${organizationId}|${jobId}|typed`;
}
