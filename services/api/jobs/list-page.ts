import type { KeyContext } from '../../../shared/accounts/accounts-copy.ts';
import { isoTime } from '../../../shared/clock/clock.ts';
import type { JobStatus } from '../../../shared/domain/job-state.ts';
import type { JobView } from '../../../shared/domain/job-view.ts';
import { tagHmac } from '../../../shared/privacy/tag-hmac.ts';
import { listJobs, type JobList } from '../../../projections/jobs/queries.ts';
import { whenProjected } from '../read-models/when-projected.ts';
import type { Dependencies } from '../dependencies.ts';
import { readTyped, viewOf } from './view-job.ts';

/** Jobs whose sealed part is opened at once; each takes one read of the key bucket at most. */
const OPENED_AT_ONCE_MAX = 16;

/** Which page is asked for, and of which jobs. */
export type ListRequest = {
  readonly page: number;
  readonly perPage: number;
  readonly tasks: boolean;
  readonly status?: JobStatus | undefined;
  readonly tag?: string | undefined;
  readonly api_key_id?: string | undefined;
};

/** One page of the caller's jobs, and how many there are on all pages (§4.3). Throws `TransientError`. */
export async function listPage(deps: Dependencies, caller: KeyContext, request: ListRequest): Promise<{ readonly jobs: readonly JobView[]; readonly total: number }> {
  await whenProjected(deps, 'JOBS');
  const { status, tag, api_key_id } = request;
  const list = await listJobs(deps.pool, {
    organizationId: caller.organization_id,
    keyMode: caller.key_mode,
    ...(status === undefined ? {} : { status }),
    ...(tag === undefined ? {} : { tagHmac: tagHmac(deps.masterKey, caller.organization_id, tag) }),
    ...(api_key_id === undefined ? {} : { apiKeyId: api_key_id }),
    page: request.page,
    perPage: request.perPage,
    now: isoTime(deps.clock.nowMs()),
  });
  return { jobs: await openRows(deps, list.rows, request.tasks), total: list.total };
}

/** A few rows at a time, in their order. A job whose key is gone was deleted while the list was read. */
async function openRows(deps: Dependencies, rows: JobList['rows'], tasks: boolean): Promise<readonly JobView[]> {
  const jobs: JobView[] = [];
  for (let start = 0; start < rows.length; start += OPENED_AT_ONCE_MAX) {
    const some = await Promise.all(rows.slice(start, start + OPENED_AT_ONCE_MAX).map(async ({ jobId, state }) => {
      const typed = await readTyped(deps, jobId, state);
      return typed ? [await viewOf(deps, jobId, state, typed, { tasks })] : [];
    }));
    jobs.push(...some.flat());
  }
  return jobs;
}
