import { viewJob, withUploadUrl, type JobTyped, type JobView } from '../../../shared/domain/job-view.ts';
import { jobDecider } from '../../../shared/domain/job.ts';
import { Defect } from '../../../shared/errors/errors.ts';
import type { EventData } from '../../../shared/events/registry.ts';
import { sourceKey } from '../../../shared/objects/keys.ts';
import type { ObjectStore } from '../../../shared/objects/object-store.ts';

/**
 * What a client is answered when its job was created: the job as it was at that moment, and what its upload URL is made
 * from. The URL itself is derived whenever the answer goes out, always the same one, and kept nowhere (D18).
 */
export type CreationAnswer = { readonly job: JobView; readonly upload?: { readonly expires_at: string; readonly max_bytes: number } };

/** The answer to the request that made `job.created`; `uploadBytesMax` is the largest file of one PUT. */
export function answerOf(jobId: string, created: EventData<'job.created'>, typed: JobTyped, uploadBytesMax: number): CreationAnswer {
  const state = jobDecider.evolve(jobDecider.initialState, { type: 'job.created', data: created });
  if (state.kind !== 'live') throw new Defect('creating a job did not make one');
  const job = viewJob(jobId, state, typed, {}, { tasks: true });
  const { upload_url_expires_at } = created;
  return upload_url_expires_at === undefined ? { job } : { job, upload: { expires_at: upload_url_expires_at, max_bytes: uploadBytesMax } };
}

/** The answer as the client gets it, with `tasks[0].result.uploadUrl`. Throws `TransientError` when the store is away. */
export async function renderAnswer(objects: ObjectStore, { job, upload }: CreationAnswer): Promise<JobView> {
  if (!upload) return job;
  return withUploadUrl(job, await objects.signUpload(sourceKey(job.id), { expiresAtMs: Date.parse(upload.expires_at), maxBytes: upload.max_bytes }));
}
