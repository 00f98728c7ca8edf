import type { ClientBase } from 'pg';
import type { StoredEvent } from '../../shared/events/envelope.ts';
import type { AccountEvent } from '../../shared/events/registry.ts';
import { queryLong } from '../../shared/postgres/query-long.ts';
import { deliveriesProjection, successesTable } from '../deliveries/projection.ts';
import { follows, type RowPosition } from '../follows.ts';
import type { Projection } from '../projection.ts';

/**
 * How far the account of each organization was read, and which of its webhook endpoints were deleted: the history of
 * those is removed with them (§4.6). What an account says is asked of the log and of local copies, never here.
 */
export const accountsProjection: Projection = {
  name: 'accounts',
  stream: 'ACCOUNTS',
  table: 'accounts_v1',
  key: 'organization_id',
  companion: { tableFor: (table) => `${table}_deleted_webhooks`, view: 'deleted_webhooks', key: ['webhook_id'] },
  apply: applyAccountEvents,
};

type StoredRow = { readonly organization_id: string; readonly version: number; readonly last_position: string; readonly last_hash: string };
type Deletion = { readonly webhook_id: string; readonly organization_id: string };

async function applyAccountEvents(client: ClientBase, table: string, events: readonly StoredEvent[]): Promise<void> {
  const rows = await readRows(client, table, [...new Set(events.map((stored) => stored.aggregate.id))]);
  const changed = new Set<string>();
  const deletions: Deletion[] = [];
  for (const stored of events) {
    const organizationId = stored.aggregate.id;
    if (!follows(rows.get(organizationId), stored)) continue;
    rows.set(organizationId, { version: stored.version, hash: stored.hash, lastPosition: stored.position });
    changed.add(organizationId);
    // The stream ACCOUNTS holds events of accounts only; `decode` checked it.
    const event = stored.event as AccountEvent;
    if (event.type === 'account.webhook_deleted') deletions.push({ webhook_id: event.data.webhook_id, organization_id: organizationId });
  }
  const written = [...rows].filter(([id]) => changed.has(id)).map(([id, row]) => ({ organization_id: id, version: row.version, last_position: row.lastPosition, last_hash: row.hash }));
  if (written.length > 0) await client.query(upsertStatement(table), [JSON.stringify(written)]);
  if (deletions.length > 0) await remember(client, table, deletions);
}

async function readRows(client: ClientBase, table: string, organizationIds: readonly string[]): Promise<Map<string, RowPosition>> {
  const { rows } = await client.query<StoredRow>(`select organization_id, version, last_position, last_hash from ${table} where organization_id = any($1::uuid[])`, [organizationIds]);
  return new Map(rows.map((row) => [row.organization_id, { version: row.version, hash: row.last_hash, lastPosition: Number(row.last_position) }]));
}

function upsertStatement(table: string): string {
  return `
    insert into ${table} (organization_id, version, last_position, last_hash)
    select organization_id, version, last_position, last_hash
    from jsonb_to_recordset($1::jsonb) as row (organization_id uuid, version int, last_position bigint, last_hash text)
    on conflict (organization_id) do update set version = excluded.version, last_position = excluded.last_position, last_hash = excluded.last_hash`;
}

/**
 * From here on nothing of these endpoints is taken into the history, and what is there goes. The lock lets the batch that
 * is being written to the history end first, because it cannot know of this; the next one finds it.
 */
async function remember(client: ClientBase, table: string, deletions: readonly Deletion[]): Promise<void> {
  const isLive = table === accountsProjection.table;
  const history = deliveriesProjection.table;
  if (isLive) await client.query(`lock table ${history} in share row exclusive mode`);
  await client.query(
    `insert into ${table}_deleted_webhooks (webhook_id, organization_id)
     select webhook_id, organization_id from jsonb_to_recordset($1::jsonb) as row (webhook_id uuid, organization_id uuid) on conflict do nothing`,
    [JSON.stringify(deletions)],
  );
  if (!isLive) return;
  const webhookIds = deletions.map(({ webhook_id }) => webhook_id);
  // An endpoint may have had millions of deliveries.
  await queryLong(client, `delete from ${history} where webhook_id = any($1::uuid[])`, [webhookIds]);
  await client.query(`delete from ${successesTable(history)} where webhook_id = any($1::uuid[])`, [webhookIds]);
}
