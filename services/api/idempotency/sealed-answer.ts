import type { KeyObject } from 'node:crypto';
import { z } from 'zod';
import type { JobView } from '../../../shared/domain/job-view.ts';
import { Defect } from '../../../shared/errors/errors.ts';
import { time } from '../../../shared/events/fields.ts';
import { open, seal } from '../../../shared/privacy/seal.ts';
import type { CreationAnswer } from '../create-job/creation-answer.ts';

/** The job goes out as it was sealed, whatever a later version would show of it (D81); the seal vouches for it. */
const answerSchema = z.object({
  job: z.custom<JobView>((value) => typeof value === 'object' && value !== null && 'id' in value && 'tasks' in value),
  upload: z.object({ expires_at: time, max_bytes: z.int().min(1) }).optional(),
});

/** Seals an answer, tag and task names among it, under a key that needs the value of the client's header. */
export function sealAnswer(key: KeyObject, answer: CreationAnswer): string {
  return seal(key, answer, associatedData(answer.job.id));
}

/** Opens it again. Throws `Defect` when it was altered, moved, or sealed under another key. */
export function openAnswer(key: KeyObject, jobId: string, sealed: string): CreationAnswer {
  const parsed = answerSchema.safeParse(open(key, sealed, associatedData(jobId)));
  if (!parsed.success) throw new Defect('a sealed answer has an unknown shape', { cause: parsed.error });
  const { job, upload } = parsed.data;
  return upload ? { job, upload } : { job };
}

function associatedData(jobId: string): string {
  return `${jobId}|creation-answer`;
}
