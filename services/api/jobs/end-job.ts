import { randomUUID } from 'node:crypto';
import type { KeyContext } from '../../../shared/accounts/accounts-copy.ts';
import { isoTime } from '../../../shared/clock/clock.ts';
import { jobAt, type JobView } from '../../../shared/domain/job-view.ts';
import type { JobState } from '../../../shared/domain/job-state.ts';
import { jobDecider } from '../../../shared/domain/job.ts';
import { TransientError } from '../../../shared/errors/errors.ts';
import { resultPrefix } from '../../../shared/objects/keys.ts';
import { handle } from '../../../shared/store/handle.ts';
import type { Dependencies } from '../dependencies.ts';
import { ApiError } from '../errors/api-error.ts';
import { inTime } from '../files/in-time.ts';
import { loadVisibleJob } from './load-job.ts';
import { originOf } from './origin.ts';
import { readTyped, viewOf } from './view-job.ts';

/** Cancels a job that is waiting or queued and answers it (§3). Throws `ApiError` 404, `DomainError` for 409. */
export async function cancelJob(deps: Dependencies, caller: KeyContext, jobId: string, requestId: string): Promise<JobView> {
  const job = await loadVisibleJob(deps, caller, jobId);
  // A deadline that has passed counts, although its event may still be on its way (D39).
  const { status } = jobAt(job, isoTime(deps.clock.nowMs()));
  if (status === 'expired') throw ApiError.of(409, 'validation_failed', 'The job is expired already.', { reason: 'already_terminal', status });
  const typed = await readTyped(deps, jobId, job);
  const state = await decide(deps, caller, jobId, 'cancel', requestId);
  if (state.kind !== 'live' || !typed) throw ApiError.notFound();
  return await viewOf(deps, jobId, state, typed, { tasks: true });
}

/** Removes a job that is not being converted, from every read at once (§3, D36). Throws `ApiError` 404, `DomainError` for 409. */
export async function deleteJob(deps: Dependencies, caller: KeyContext, jobId: string, requestId: string): Promise<void> {
  await loadVisibleJob(deps, caller, jobId);
  await decide(deps, caller, jobId, 'delete', requestId);
  if (!deps.config.servesFiles) await removeResults(deps, jobId);
}

/**
 * A link to an S3 store asks nobody whether the job is still there, so it ends by the end of its file. The importer does
 * the same a moment later, and sees to it when the store is away now.
 */
async function removeResults(deps: Dependencies, jobId: string): Promise<void> {
  try {
    await inTime(deps.objects.removePrefix(resultPrefix(jobId)));
  } catch (error) {
    if (!(error instanceof TransientError)) throw error;
    deps.logger.warn({ err: error, job_id: jobId }, 'the result of a deleted job is left to the importer');
  }
}

async function decide(deps: Dependencies, caller: KeyContext, jobId: string, type: 'cancel' | 'delete', requestId: string): Promise<JobState> {
  // Each request is a command of its own: a second cancel is refused, not repeated (D35).
  const origin = originOf(caller, requestId, randomUUID(), deps.clock.nowMs());
  const { state, appended } = await handle(deps.store, jobDecider, { kind: 'job', id: jobId }, { type }, origin);
  if (appended) deps.logWatch.note('JOBS', appended.position);
  return state;
}
