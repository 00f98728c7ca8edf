import { isoTime } from '../../../shared/clock/clock.ts';
import type { LiveJob } from '../../../shared/domain/job-state.ts';
import { jobAt, viewJob, type JobTyped, type JobView } from '../../../shared/domain/job-view.ts';
import { jobKeyName } from '../../../shared/privacy/data-keys.ts';
import { openTyped } from '../../../shared/privacy/typed.ts';
import type { Dependencies } from '../dependencies.ts';
import { resultUrlOf, uploadUrlOf } from './links.ts';

type Parts = { readonly tasks: boolean; readonly uploadUrl: boolean };

/** The job as clients see it now. The upload URL goes into the answer of its creation only (D18). */
export async function viewOf(deps: Dependencies, jobId: string, job: LiveJob, typed: JobTyped, parts: Parts): Promise<JobView> {
  const current = jobAt(job, isoTime(deps.clock.nowMs()));
  const uploadUrl = parts.uploadUrl ? await uploadUrlOf(deps.objects, deps.config.uploadBytesMax, jobId, current) : undefined;
  const resultUrl = parts.tasks ? await resultUrlOf(deps.objects, jobId, current) : undefined;
  const links = { ...(uploadUrl === undefined ? {} : { uploadUrl }), ...(resultUrl === undefined ? {} : { resultUrl }) };
  return viewJob(jobId, current, typed, links, parts);
}

/** What the client typed into the job; undefined when its key was destroyed, which only deletion does (D36). */
export async function readTyped(deps: Dependencies, jobId: string, job: LiveJob): Promise<JobTyped | undefined> {
  const key = await deps.dataKeys.get(jobKeyName(jobId));
  return key && openTyped(key, job.created.organization_id, jobId, job.created.typed);
}
