import type { ClientBase } from 'pg';
import { evolveJob, initialJob, type JobState, type LiveJob } from '../../shared/domain/job-state.ts';
import { turnsExpiredAt } from '../../shared/domain/job-view.ts';
import type { StoredEvent } from '../../shared/events/envelope.ts';
import type { JobEvent } from '../../shared/events/registry.ts';
import { follows, type RowPosition } from '../follows.ts';
import type { Projection } from '../projection.ts';
import { countsTable, moveCounts } from './counts.ts';

/** The jobs that `GET /jobs` lists: the folded state of each, columns to find it by, and how many there are of a kind. */
export const jobsProjection: Projection = {
  name: 'jobs',
  stream: 'JOBS',
  table: 'jobs_v1',
  key: 'job_id',
  companion: { tableFor: countsTable, view: 'job_counts', key: ['organization_id', 'key_mode', 'api_key_id', 'status'] },
  apply: applyJobEvents,
};

/** A row at work; a deleted job stays here until the batch is written, then its row is removed (D36). */
type Row = RowPosition & { readonly state: JobState; readonly createdPosition: number };
type StoredRow = { readonly job_id: string; readonly state: LiveJob; readonly version: number; readonly created_position: string; readonly last_position: string; readonly last_hash: string };

async function applyJobEvents(client: ClientBase, table: string, events: readonly StoredEvent[]): Promise<void> {
  const before = await readRows(client, table, [...new Set(events.map((stored) => stored.aggregate.id))]);
  const rows = new Map(before);
  const changed = new Set<string>();
  for (const stored of events) {
    const jobId = stored.aggregate.id;
    const row = rows.get(jobId);
    if (!follows(row, stored)) continue;
    // The stream JOBS holds events of jobs only; `decode` checked it.
    const state = evolveJob(row?.state ?? initialJob, stored.event as JobEvent);
    rows.set(jobId, { state, version: stored.version, hash: stored.hash, lastPosition: stored.position, createdPosition: row?.createdPosition ?? stored.position });
    changed.add(jobId);
  }
  await writeRows(client, table, [...changed].map((jobId) => [jobId, rows.get(jobId)]));
  await moveCounts(client, table, [...changed].map((jobId) => ({ before: liveJob(before.get(jobId)), after: liveJob(rows.get(jobId)) })));
}

/** What is in the table of a row: nothing, once the job was deleted. */
function liveJob(row: Row | undefined): LiveJob | undefined {
  return row?.state.kind === 'live' ? row.state : undefined;
}

async function readRows(client: ClientBase, table: string, jobIds: readonly string[]): Promise<Map<string, Row>> {
  const { rows } = await client.query<StoredRow>(`select job_id, state, version, created_position, last_position, last_hash from ${table} where job_id = any($1::uuid[])`, [jobIds]);
  return new Map(
    rows.map((row) => [row.job_id, { state: row.state, version: row.version, hash: row.last_hash, lastPosition: Number(row.last_position), createdPosition: Number(row.created_position) }]),
  );
}

async function writeRows(client: ClientBase, table: string, rows: readonly (readonly [string, Row | undefined])[]): Promise<void> {
  const written: object[] = [];
  const deleted: string[] = [];
  for (const [jobId, row] of rows) {
    if (row?.state.kind === 'live') written.push(toColumns(jobId, row, row.state));
    else deleted.push(jobId);
  }
  if (deleted.length > 0) await client.query(`delete from ${table} where job_id = any($1::uuid[])`, [deleted]);
  if (written.length > 0) await client.query(upsertStatement(table), [JSON.stringify(written)]);
}

function toColumns(jobId: string, row: Row, job: LiveJob): object {
  const { organization_id, key_mode, api_key_id, tag_hmac, created_at } = job.created;
  return {
    job_id: jobId,
    organization_id,
    key_mode,
    api_key_id,
    tag_hmac,
    created_at,
    created_position: row.createdPosition,
    status: job.status,
    turns_expired_at: turnsExpiredAt(job),
    state: job,
    version: row.version,
    last_position: row.lastPosition,
    last_hash: row.hash,
  };
}

/** One statement for all rows of a batch; what never changes about a job is written once. */
function upsertStatement(table: string): string {
  return `
    insert into ${table} (job_id, organization_id, key_mode, api_key_id, tag_hmac, created_at, created_position, status, turns_expired_at, state, version, last_position, last_hash)
    select job_id, organization_id, key_mode, api_key_id, tag_hmac, created_at, created_position, status, turns_expired_at, state, version, last_position, last_hash
    from jsonb_to_recordset($1::jsonb) as row (
      job_id uuid, organization_id uuid, key_mode text, api_key_id uuid, tag_hmac text, created_at timestamptz, created_position bigint,
      status text, turns_expired_at timestamptz, state jsonb, version int, last_position bigint, last_hash text)
    on conflict (job_id) do update set
      status = excluded.status, turns_expired_at = excluded.turns_expired_at, state = excluded.state,
      version = excluded.version, last_position = excluded.last_position, last_hash = excluded.last_hash`;
}
