import type { KeyContext } from '../../../shared/accounts/accounts-copy.ts';
import type { LiveJob } from '../../../shared/domain/job-state.ts';
import { jobDecider } from '../../../shared/domain/job.ts';
import { isId } from '../../../shared/ids/ids.ts';
import { loadState } from '../../../shared/store/handle.ts';
import type { Dependencies } from '../dependencies.ts';
import { ApiError } from '../errors/api-error.ts';
import { pathParameter, type ApiContext } from '../http/context.ts';

/** The job id in the path. Throws `ApiError` 404 when it is none of ours, whatever is wrong with it (D3). */
export function jobIdOf(ctx: ApiContext): string {
  const jobId = pathParameter(ctx, 'job_id');
  if (!isId(jobId)) throw ApiError.notFound();
  ctx.state.jobId = jobId;
  return jobId;
}

/** Folds a job from the log, for anybody; undefined when there is none or it was deleted. */
export async function foldJob(deps: Dependencies, jobId: string): Promise<LiveJob | undefined> {
  const { state, events } = await loadState(deps.store, jobDecider, { kind: 'job', id: jobId });
  const last = events.at(-1);
  // What one answer has shown, the list that is asked for next must know too (D49).
  if (last) deps.logWatch.note('JOBS', last.position);
  return state.kind === 'live' ? state : undefined;
}

/** Folds a job that the caller may see: of the same organization and mode (§4.3). Throws `ApiError` 404 otherwise. */
export async function loadVisibleJob(deps: Dependencies, caller: KeyContext, jobId: string): Promise<LiveJob> {
  const job = await foldJob(deps, jobId);
  if (!job || job.created.organization_id !== caller.organization_id || job.created.key_mode !== caller.key_mode) throw ApiError.notFound();
  return job;
}
