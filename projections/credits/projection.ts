import type { ClientBase } from 'pg';
import { creditsDecider, type CreditsState } from '../../shared/domain/credits.ts';
import type { StoredEvent } from '../../shared/events/envelope.ts';
import type { CreditsEvent } from '../../shared/events/registry.ts';
import { follows, type RowPosition } from '../follows.ts';
import type { Projection } from '../projection.ts';

/** Credits of every organization, for `GET /me`; its constraints halt it rather than show a balance below 0. */
export const creditsProjection: Projection = { name: 'credits', stream: 'CREDITS', table: 'credits_v1', key: 'organization_id', apply: applyCreditsEvents };

type Sums = Pick<CreditsState, 'granted' | 'held' | 'charged'>;
type Row = RowPosition & { readonly sums: Sums };
type StoredRow = { readonly organization_id: string; readonly version: number } & Readonly<Record<'granted' | 'held' | 'charged' | 'last_position' | 'last_hash', string>>;

async function applyCreditsEvents(client: ClientBase, table: string, events: readonly StoredEvent[]): Promise<void> {
  const rows = await readRows(client, table, [...new Set(events.map((stored) => stored.aggregate.id))]);
  const changed = new Set<string>();
  for (const stored of events) {
    const organizationId = stored.aggregate.id;
    const row = rows.get(organizationId);
    if (!follows(row, stored)) continue;
    // The stream CREDITS holds events of credits only. Sums need no single holds, and there is no bound on those.
    const before: CreditsState = { ...(row?.sums ?? creditsDecider.initialState), holds: new Map() };
    const { granted, held, charged } = creditsDecider.evolve(before, stored.event as CreditsEvent);
    rows.set(organizationId, { sums: { granted, held, charged }, version: stored.version, hash: stored.hash, lastPosition: stored.position });
    changed.add(organizationId);
  }
  const written = [...rows].filter(([id]) => changed.has(id)).map(([id, row]) => ({ organization_id: id, ...row.sums, version: row.version, last_position: row.lastPosition, last_hash: row.hash }));
  if (written.length > 0) await client.query(upsertStatement(table), [JSON.stringify(written)]);
}

async function readRows(client: ClientBase, table: string, organizationIds: readonly string[]): Promise<Map<string, Row>> {
  const { rows } = await client.query<StoredRow>(
    `select organization_id, granted, held, charged, version, last_position, last_hash from ${table} where organization_id = any($1::uuid[])`,
    [organizationIds],
  );
  return new Map(
    rows.map((row) => [
      row.organization_id,
      { sums: { granted: Number(row.granted), held: Number(row.held), charged: Number(row.charged) }, version: row.version, hash: row.last_hash, lastPosition: Number(row.last_position) },
    ]),
  );
}

function upsertStatement(table: string): string {
  return `
    insert into ${table} (organization_id, granted, held, charged, version, last_position, last_hash)
    select organization_id, granted, held, charged, version, last_position, last_hash
    from jsonb_to_recordset($1::jsonb) as row (organization_id uuid, granted bigint, held bigint, charged bigint, version int, last_position bigint, last_hash text)
    on conflict (organization_id) do update set
      granted = excluded.granted, held = excluded.held, charged = excluded.charged,
      version = excluded.version, last_position = excluded.last_position, last_hash = excluded.last_hash`;
}
