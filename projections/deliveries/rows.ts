import type { ClientBase } from 'pg';
import type { LiveDelivery } from '../../shared/domain/delivery.ts';
import type { RowPosition } from '../follows.ts';

/** A row of the history at work. */
export type Row = RowPosition & { readonly state: LiveDelivery; readonly organizationId: string; readonly queuedAt: string; readonly queuedPosition: number; readonly lastAttemptAt?: string };

type StoredRow = {
  readonly delivery_id: string;
  readonly state: LiveDelivery;
  readonly organization_id: string;
  readonly queued_at: Date;
  readonly queued_position: string;
  readonly last_attempt_at: Date | null;
  readonly version: number;
  readonly last_position: string;
  readonly last_hash: string;
};

/** Rows of these deliveries by their id, those that are there. */
export async function readRows(client: ClientBase, table: string, deliveryIds: readonly string[]): Promise<Map<string, Row>> {
  const { rows } = await client.query<StoredRow>(
    `select delivery_id, state, organization_id, queued_at, queued_position, last_attempt_at, version, last_position, last_hash from ${table} where delivery_id = any($1::uuid[])`,
    [deliveryIds],
  );
  return new Map(
    rows.map((row) => [
      row.delivery_id,
      {
        state: row.state,
        organizationId: row.organization_id,
        queuedAt: row.queued_at.toISOString(),
        queuedPosition: Number(row.queued_position),
        ...(row.last_attempt_at === null ? {} : { lastAttemptAt: row.last_attempt_at.toISOString() }),
        version: row.version,
        hash: row.last_hash,
        lastPosition: Number(row.last_position),
      },
    ]),
  );
}

/** Writes rows as they are now, new ones and changed ones, in one statement. */
export async function writeRows(client: ClientBase, table: string, rows: readonly (readonly [string, Row])[]): Promise<void> {
  if (rows.length > 0) await client.query(upsertStatement(table), [JSON.stringify(rows.map(([id, row]) => toColumns(id, row)))]);
}

function toColumns(deliveryId: string, row: Row): object {
  const { queued, status, attempts, last, next_attempt_at } = row.state;
  return {
    delivery_id: deliveryId,
    webhook_id: queued.webhook_id,
    organization_id: row.organizationId,
    event_id: queued.event_id,
    event: queued.event,
    job_id: queued.source.kind === 'job' ? queued.source.job_id : null,
    replay_of: queued.replay_of ?? null,
    status,
    attempts,
    status_code: last?.status_code ?? null,
    failure: last?.failure ?? null,
    duration_ms: last?.duration_ms ?? null,
    queued_at: row.queuedAt,
    queued_position: row.queuedPosition,
    last_attempt_at: row.lastAttemptAt ?? null,
    next_attempt_at: next_attempt_at ?? null,
    state: row.state,
    version: row.version,
    last_position: row.lastPosition,
    last_hash: row.hash,
  };
}

/** What never changes about a delivery is written once. */
function upsertStatement(table: string): string {
  return `
    insert into ${table} (delivery_id, webhook_id, organization_id, event_id, event, job_id, replay_of, status, attempts, status_code, failure, duration_ms,
      queued_at, queued_position, last_attempt_at, next_attempt_at, state, version, last_position, last_hash)
    select delivery_id, webhook_id, organization_id, event_id, event, job_id, replay_of, status, attempts, status_code, failure, duration_ms,
      queued_at, queued_position, last_attempt_at, next_attempt_at, state, version, last_position, last_hash
    from jsonb_to_recordset($1::jsonb) as row (delivery_id uuid, webhook_id uuid, organization_id uuid, event_id uuid, event text, job_id uuid, replay_of uuid, status text, attempts int,
      status_code int, failure text, duration_ms bigint, queued_at timestamptz, queued_position bigint, last_attempt_at timestamptz, next_attempt_at timestamptz,
      state jsonb, version int, last_position bigint, last_hash text)
    on conflict (delivery_id) do update set
      status = excluded.status, attempts = excluded.attempts, status_code = excluded.status_code, failure = excluded.failure, duration_ms = excluded.duration_ms,
      last_attempt_at = excluded.last_attempt_at, next_attempt_at = excluded.next_attempt_at,
      state = excluded.state, version = excluded.version, last_position = excluded.last_position, last_hash = excluded.last_hash`;
}
