import type { Pool } from 'pg';
import type { JobStatus, LiveJob } from '../../shared/domain/job-state.ts';
import { toTransient } from '../../shared/postgres/transient.ts';

/**
 * How far into a list a page may end, in jobs: up to here a page is found in the index within a few hundredths of a
 * second. Whoever wants to see more filters.
 */
export const LIST_DEPTH_MAX = 100_000;

/** What `GET /jobs` asks (§4.3); `page` counts from 1 and `now` is ISO 8601. */
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

/** A statement and its values; nothing of a query is ever written into the statement. */
export type Statement = { readonly text: string; readonly values: readonly unknown[] };

const NEWEST_FIRST = 'order by created_at desc, created_position desc';

/**
 * Lists jobs of one organization and key mode. The status filter agrees with the clock: a passed deadline counts
 * although its event may still be on its way (D39). A page that ends beyond `LIST_DEPTH_MAX` is empty. Throws
 * `TransientError` when Postgres is away.
 */
export async function listJobs(pool: Pool, query: JobListQuery): Promise<JobList> {
  const { text, values } = listStatement(query);
  try {
    const { rows } = await pool.query<ListRow>(text, [...values]);
    const found = rows.flatMap(({ job_id, state }) => (job_id === null || state === null ? [] : [{ jobId: job_id, state }]));
    return { rows: found, total: Number(rows[0]?.total ?? 0) };
  } catch (error) {
    throw toTransient(error);
  }
}

/**
 * One statement, so that the page and the total are of the same moment. The page is found by ids alone, which the
 * indexes hold, and only its own rows are read.
 */
export function listStatement(query: JobListQuery): Statement {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const base = [`organization_id = ${bind(query.organizationId)}`, `key_mode = ${bind(query.keyMode)}`];
  if (query.apiKeyId !== undefined) base.push(`api_key_id = ${bind(query.apiKeyId)}`);
  const counted = base.join(' and ');
  if (query.tagHmac !== undefined) base.push(`tag_hmac = ${bind(query.tagHmac)}`);
  const status = query.status === undefined ? undefined : { name: bind(query.status), now: bind(query.now), isExpired: query.status === 'expired' };
  const conditions = conditionsOf(base.join(' and '), status);
  const total = query.tagHmac === undefined ? totalFromCounts(counted, status) : conditions.map(countOf).join(' + ');
  const depth = query.page * query.perPage;
  const page = depth > LIST_DEPTH_MAX ? 'select null::uuid as job_id where false' : pageOf(conditions, { depth: bind(depth), limit: bind(query.perPage), offset: bind(depth - query.perPage) });
  return {
    text: `select total, job_id, state from (select ${total} as total) as counted
      left join lateral (select job_id, state, created_at, created_position from (${page}) as page join jobs using (job_id)) as listed on true ${NEWEST_FIRST}`,
    values,
  };
}

type StatusFilter = { readonly name: string; readonly now: string; readonly isExpired: boolean };

/**
 * The conditions that together let exactly the wanted jobs through, none of them by two. A job whose time is over by the
 * clock still has its old status in its row; those are few, and have an index of their own.
 */
function conditionsOf(base: string, status: StatusFilter | undefined): readonly string[] {
  if (status === undefined) return [base];
  if (status.isExpired) return [`${base} and status = ${status.name}`, `${base} and turns_expired_at <= ${status.now}`];
  return [`${base} and status = ${status.name} and (turns_expired_at is null or turns_expired_at > ${status.now})`];
}

function pageOf(conditions: readonly string[], { depth, limit, offset }: Readonly<Record<'depth' | 'limit' | 'offset', string>>): string {
  const ids = conditions.map((condition) => `(select job_id, created_at, created_position from jobs where ${condition} ${NEWEST_FIRST} limit ${depth})`);
  return `select job_id from (${ids.join(' union all ')}) as found ${NEWEST_FIRST} limit ${limit} offset ${offset}`;
}

/** The total out of what the projection has counted, set right by the jobs whose time is over by the clock. */
function totalFromCounts(base: string, status: StatusFilter | undefined): string {
  const sum = (more: string): string => `(select coalesce(sum(jobs), 0)::bigint from job_counts where ${base}${more})`;
  if (status === undefined) return sum('');
  const turned = `${base} and turns_expired_at <= ${status.now}`;
  if (status.isExpired) return `${sum(` and status = ${status.name}`)} + ${countOf(turned)}`;
  return `${sum(` and status = ${status.name}`)} - ${countOf(`${turned} and status = ${status.name}`)}`;
}

function countOf(condition: string): string {
  return `(select count(*) from jobs where ${condition})`;
}
