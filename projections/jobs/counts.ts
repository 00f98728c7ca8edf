import type { ClientBase } from 'pg';
import type { LiveJob } from '../../shared/domain/job-state.ts';

/** What a row was before a batch and what it is after it; undefined where there is no row. */
export type RowChange = { readonly before: LiveJob | undefined; readonly after: LiveJob | undefined };

type Count = { readonly organization_id: string; readonly key_mode: string; readonly api_key_id: string; readonly status: string; jobs: number };

/** The table in which the rows of a table of jobs are counted; the same for the live one and for a copy of it. */
export function countsTable(table: string): string {
  return `${table}_counts`;
}

/**
 * Moves the counts of a table of jobs along with its rows, inside the caller's transaction, so that a list knows its
 * total without counting (§4.3). Counts that are 0 have no row.
 */
export async function moveCounts(client: ClientBase, table: string, changes: readonly RowChange[]): Promise<void> {
  const counts = new Map<string, Count>();
  for (const { before, after } of changes) {
    if (before) add(counts, before, -1);
    if (after) add(counts, after, 1);
  }
  const moved = [...counts.values()].filter(({ jobs }) => jobs !== 0);
  if (moved.length > 0) await client.query(mergeStatement(countsTable(table)), [JSON.stringify(moved)]);
}

function add(counts: Map<string, Count>, job: LiveJob, jobs: number): void {
  const { organization_id, key_mode, api_key_id } = job.created;
  const key = [organization_id, key_mode, api_key_id, job.status].join();
  const count = counts.get(key);
  if (count) count.jobs += jobs;
  else counts.set(key, { organization_id, key_mode, api_key_id, status: job.status, jobs });
}

/** Fewer than no jobs breaks a constraint, so that a count that went wrong halts and is not shown. */
function mergeStatement(table: string): string {
  return `
    merge into ${table} as counted
    using jsonb_to_recordset($1::jsonb) as moved (organization_id uuid, key_mode text, api_key_id uuid, status text, jobs bigint)
    on counted.organization_id = moved.organization_id and counted.key_mode = moved.key_mode
      and counted.api_key_id = moved.api_key_id and counted.status = moved.status
    when matched and counted.jobs + moved.jobs = 0 then delete
    when matched then update set jobs = counted.jobs + moved.jobs
    when not matched then insert (organization_id, key_mode, api_key_id, status, jobs)
      values (moved.organization_id, moved.key_mode, moved.api_key_id, moved.status, moved.jobs)`;
}
