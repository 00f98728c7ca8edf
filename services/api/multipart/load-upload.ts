import type { KeyContext } from '../../../shared/accounts/accounts-copy.ts';
import { isoTime } from '../../../shared/clock/clock.ts';
import type { LiveJob } from '../../../shared/domain/job-state.ts';
import { jobAt } from '../../../shared/domain/job-view.ts';
import { refuse } from '../../../shared/domain/job-refusal.ts';
import type { Dependencies } from '../dependencies.ts';
import { loadVisibleJob } from '../jobs/load-job.ts';

/** A job and the upload in parts that it has. */
export type Upload = { readonly job: LiveJob; readonly multipart: NonNullable<LiveJob['multipart']> };

/**
 * The upload in parts of a job as it is by the clock. Throws `ApiError` 404, and `DomainError` `multipart_not_started`
 * before a start and after a discard (D44).
 */
export async function loadUpload(deps: Dependencies, caller: KeyContext, jobId: string): Promise<Upload> {
  const job = jobAt(await loadVisibleJob(deps, caller, jobId), isoTime(deps.clock.nowMs()));
  if (!job.multipart) throw refuse('multipart_not_started', 'No multipart upload was started for this job.', job);
  return { job, multipart: job.multipart };
}
