import type { ClientBase } from 'pg';
import { DELIVERIES_KEPT_MS, deliveryDecider, type DeliveryState, type LiveDelivery } from '../../shared/domain/delivery.ts';
import type { StoredEvent } from '../../shared/events/envelope.ts';
import type { DeliveryEvent } from '../../shared/events/registry.ts';
import { queryLong } from '../../shared/postgres/query-long.ts';
import { follows, type RowPosition } from '../follows.ts';
import type { Projection, Settling } from '../projection.ts';
import { readRows, writeRows, type Row } from './rows.ts';

/** Old rows that are removed with one batch; more than a batch adds, and within milliseconds. */
const REMOVED_MAX = 2_000;

/** The history of deliveries (§6 delivery 4): the folded state of each, and when each endpoint last took one. */
export const deliveriesProjection: Projection = {
  name: 'deliveries',
  stream: 'DELIVERIES',
  table: 'deliveries_v1',
  key: 'delivery_id',
  companion: { tableFor: successesTable, view: 'webhook_successes', key: ['webhook_id'] },
  apply: applyDeliveryEvents,
  settle,
};

/** The table in which the last success of each endpoint stands, beside a table of deliveries. */
export function successesTable(table: string): string {
  return `${table}_successes`;
}

/** When an endpoint took a delivery, and where the first event of that delivery lies. */
type Success = { readonly webhook_id: string; readonly succeeded_at: string; readonly queued_position: number };

async function applyDeliveryEvents(client: ClientBase, table: string, events: readonly StoredEvent[]): Promise<void> {
  // Before anything is read, so that an endpoint is deleted either before this batch or after it.
  await client.query(`lock table ${table} in row exclusive mode`);
  const rows = await readRows(client, table, [...new Set(events.map((stored) => stored.aggregate.id))]);
  const deleted = await readDeleted(client, events);
  const changed = new Set<string>();
  const successes = new Map<string, Success>();
  for (const stored of events) {
    const row = rows.get(stored.aggregate.id);
    if (isOfNoRow(row, stored, deleted) || !follows(row, stored)) continue;
    const next = after(row, stored);
    if (!next) continue;
    rows.set(stored.aggregate.id, next);
    changed.add(stored.aggregate.id);
    if (next.state.status === 'delivered') keepLatest(successes, { webhook_id: next.state.queued.webhook_id, succeeded_at: stored.envelope.time, queued_position: next.queuedPosition });
  }
  await writeRows(client, table, [...rows].filter(([id]) => changed.has(id)));
  if (successes.size > 0) await client.query(successStatement(successesTable(table)), [JSON.stringify([...successes.values()])]);
  await removeOld(client, table, events);
}

/** What is left of a delivery whose beginning has aged out, and deliveries to an endpoint that was deleted, are in no history. */
function isOfNoRow(row: RowPosition | undefined, { version, event }: StoredEvent, deleted: ReadonlySet<string>): boolean {
  if (row !== undefined) return false;
  return version > 1 || (event.type === 'delivery.queued' && deleted.has(event.data.webhook_id));
}

function after(row: Row | undefined, stored: StoredEvent): Row | undefined {
  // The stream DELIVERIES holds events of deliveries only; `decode` checked it.
  const state: DeliveryState = deliveryDecider.evolve(row?.state ?? deliveryDecider.initialState, stored.event as DeliveryEvent);
  if (state.kind === 'none') return undefined;
  // Once recorded, an attempt is not open any more; when it began is worth showing still.
  const lastAttemptAt = state.open?.started_at ?? row?.lastAttemptAt;
  return {
    state: withoutTyped(state),
    organizationId: stored.envelope.tenant,
    queuedAt: row?.queuedAt ?? stored.envelope.time,
    queuedPosition: row?.queuedPosition ?? stored.position,
    ...(lastAttemptAt === undefined ? {} : { lastAttemptAt }),
    version: stored.version,
    hash: stored.hash,
    lastPosition: stored.position,
  };
}

/** Whoever sends reads it from the event; the history has no use for it. */
function withoutTyped(state: LiveDelivery): LiveDelivery {
  const { typed: _typed, ...queued } = state.queued;
  return { ...state, queued };
}

async function readDeleted(client: ClientBase, events: readonly StoredEvent[]): Promise<ReadonlySet<string>> {
  const webhookIds = new Set(events.flatMap(({ event }) => (event.type === 'delivery.queued' ? [event.data.webhook_id] : [])));
  if (webhookIds.size === 0) return webhookIds;
  const { rows } = await client.query<{ readonly webhook_id: string }>('select webhook_id from deleted_webhooks where webhook_id = any($1::uuid[])', [[...webhookIds]]);
  return new Set(rows.map((row) => row.webhook_id));
}

function keepLatest(successes: Map<string, Success>, success: Success): void {
  const known = successes.get(success.webhook_id);
  if (!known || known.succeeded_at < success.succeeded_at) successes.set(success.webhook_id, success);
}

function successStatement(table: string): string {
  return `
    insert into ${table} as known (webhook_id, succeeded_at, queued_position)
    select webhook_id, succeeded_at, queued_position from jsonb_to_recordset($1::jsonb) as row (webhook_id uuid, succeeded_at timestamptz, queued_position bigint)
    ${LATER_WINS}`;
}

const LATER_WINS = `on conflict (webhook_id) do update set succeeded_at = excluded.succeeded_at, queued_position = excluded.queued_position
  where known.succeeded_at < excluded.succeeded_at`;

/**
 * By the time of the events, so that a replay removes the same rows; a clock that was ahead removes nothing that is young.
 * After a month without an event there may be millions, which go batch by batch.
 */
async function removeOld(client: ClientBase, table: string, events: readonly StoredEvent[]): Promise<void> {
  const latestMs = Math.max(...events.map(({ envelope }) => Date.parse(envelope.time)));
  await client.query(
    `delete from ${table} where delivery_id in
       (select delivery_id from ${table} where queued_at <= least($1::timestamptz, now()) - $2 * interval '1 millisecond' order by queued_at limit ${REMOVED_MAX})`,
    [new Date(latestMs).toISOString(), DELIVERIES_KEPT_MS],
  );
}

/** Endpoints that were deleted while the log was replayed go, and what the log has let go is taken over. */
async function settle(client: ClientBase, { table, live, firstPosition }: Settling): Promise<void> {
  await queryLong(client, `delete from ${table} where queued_position < $1`, [firstPosition]);
  await queryLong(client, `insert into ${table} select * from ${live} where queued_position < $1`, [firstPosition]);
  await queryLong(client, `insert into ${successesTable(table)} as known select * from ${successesTable(live)} where queued_position < $1 ${LATER_WINS}`, [firstPosition]);
  for (const each of [table, successesTable(table)]) await queryLong(client, `delete from ${each} where webhook_id in (select webhook_id from deleted_webhooks)`);
}
