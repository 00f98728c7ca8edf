import { isoTime } from '../../../shared/clock/clock.ts';
import type { LiveJob } from '../../../shared/domain/job-state.ts';
import { jobAt, viewJob, type JobTyped, type JobView } from '../../../shared/domain/job-view.ts';
import { resultUrlOf } from '../../../shared/objects/result-url.ts';
import { jobKeyName } from '../../../shared/privacy/data-keys.ts';
import { openTyped } from '../../../shared/privacy/typed.ts';
import type { Dependencies } from '../dependencies.ts';

/** The job as clients see it now, without its upload URL, which only the answer of its creation holds (D18). */
export async function viewOf(deps: Dependencies, jobId: string, job: LiveJob, typed: JobTyped, parts: { readonly tasks: boolean }): Promise<JobView> {
  const current = jobAt(job, isoTime(deps.clock.nowMs()));
  const resultUrl = parts.tasks ? await resultUrlOf(deps.objects, jobId, current) : undefined;
  return viewJob(jobId, current, typed, resultUrl === undefined ? {} : { resultUrl }, parts);
}

/** What the client typed into the job; undefined when its key was destroyed, which only deletion does (D36). */
export async function readTyped(deps: Dependencies, jobId: string, job: LiveJob): Promise<JobTyped | undefined> {
  const key = await deps.dataKeys.get(jobKeyName(jobId));
  return key && openTyped(key, job.created.organization_id, jobId, job.created.typed);
}
