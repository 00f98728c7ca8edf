import type { Pool } from 'pg';
import type { JobStatus, LiveJob } from '../../shared/domain/job-state.ts';
import { toTransient } from '../../shared/postgres/transient.ts';

/** What `GET /jobs` asks (§4.6); `page` counts from 1 and `now` is ISO 8601. */
export type JobListQuery = {
  readonly organizationId: string;
  readonly keyMode: 'live' | 'test';
  readonly status?: JobStatus;
  readonly tagHmac?: string;
  readonly apiKeyId?: string;
  readonly page: number;
  readonly perPage: number;
  readonly now: string;
};

/** One page, newest first (D48), and how many jobs there are on all pages. `state` is as folded: pass it to `jobAt`. */
export type JobList = { readonly rows: readonly { readonly jobId: string; readonly state: LiveJob }[]; readonly total: number };

type ListRow = { readonly total: string; readonly job_id: string | null; readonly state: LiveJob | null };

const NEWEST_FIRST = 'order by created_at desc, created_position desc';

/**
 * Lists jobs of one organization and key mode. The status filter agrees with the clock: a passed deadline counts
 * although its event may still be on its way (D39). Throws `TransientError` when Postgres is away.
 */
export async function listJobs(pool: Pool, query: JobListQuery): Promise<JobList> {
  const { where, values } = buildFilter(query);
  const limit = `limit $${values.push(query.perPage)} offset $${values.push((query.page - 1) * query.perPage)}`;
  try {
    // One statement, so that the page and the total are of the same moment.
    const { rows } = await pool.query<ListRow>(
      `select total, job_id, state from (select count(*) as total from jobs where ${where}) as counted
       left join lateral (select job_id, state, created_at, created_position from jobs where ${where} ${NEWEST_FIRST} ${limit}) as page on true ${NEWEST_FIRST}`,
      values,
    );
    const found = rows.flatMap(({ job_id, state }) => (job_id === null || state === null ? [] : [{ jobId: job_id, state }]));
    return { rows: found, total: Number(rows[0]?.total ?? 0) };
  } catch (error) {
    throw toTransient(error);
  }
}

/** The condition and its values; nothing of the query is ever written into the statement. */
export function buildFilter(query: Omit<JobListQuery, 'page' | 'perPage'>): { readonly where: string; readonly values: unknown[] } {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const parts = [`organization_id = ${bind(query.organizationId)}`, `key_mode = ${bind(query.keyMode)}`];
  if (query.tagHmac !== undefined) parts.push(`tag_hmac = ${bind(query.tagHmac)}`);
  if (query.apiKeyId !== undefined) parts.push(`api_key_id = ${bind(query.apiKeyId)}`);
  if (query.status === 'expired') parts.push(`(status = 'expired' or turns_expired_at <= ${bind(query.now)})`);
  else if (query.status !== undefined) parts.push(`status = ${bind(query.status)}`, `(turns_expired_at is null or turns_expired_at > ${bind(query.now)})`);
  return { where: parts.join(' and '), values };
}
