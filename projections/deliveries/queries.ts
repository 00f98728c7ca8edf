import type { Pool } from 'pg';
import { DELIVERIES_KEPT_MS, type DeliveryStatus } from '../../shared/domain/delivery.ts';
import type { EventData } from '../../shared/events/registry.ts';
import { toTransient } from '../../shared/postgres/transient.ts';

/**
 * How far into a history a page may end, in deliveries, and up to where they are counted: that far, page and total are
 * found in the index within a few hundredths of a second. Whoever wants to see more filters.
 */
export const HISTORY_DEPTH_MAX = 100_000;

/** A delivery as the history of its endpoint shows it; times are ISO 8601. */
export type DeliveryRow = {
  readonly deliveryId: string;
  readonly webhookId: string;
  /** Without the `evt_` in front. */
  readonly eventId: string;
  readonly event: EventData<'delivery.queued'>['event'];
  /** Absent for a test delivery. */
  readonly jobId?: string;
  readonly test: boolean;
  /** The delivery that this one repeats. */
  readonly replayOf?: string;
  readonly status: DeliveryStatus;
  /** Attempts that were begun. */
  readonly attempts: number;
  /** Of the last attempt that came to an end: status of the answer, why it failed, how long it took. */
  readonly statusCode?: number;
  readonly failure?: NonNullable<EventData<'delivery.attempted'>['failure']>;
  readonly durationMs?: number;
  readonly queuedAt: string;
  readonly lastAttemptAt?: string;
  /** Of a `retrying` delivery: when it is tried again. */
  readonly nextAttemptAt?: string;
};

/** Whose history is read; `now` is ISO 8601, and what is older than 30 days by it is not shown (§6 delivery 4). */
export type HistoryOf = { readonly organizationId: string; readonly webhookId: string; readonly now: string };

/** What `GET /webhooks/{id}/deliveries` asks; `page` counts from 1. */
export type DeliveryListQuery = HistoryOf & { readonly status?: DeliveryStatus; readonly page: number; readonly perPage: number };

/** One page, newest first, and how many deliveries there are on all pages, at most `HISTORY_DEPTH_MAX`. */
export type DeliveryList = { readonly rows: readonly DeliveryRow[]; readonly total: number };

/** A statement and its values; nothing of a query is ever written into the statement. */
export type Statement = { readonly text: string; readonly values: readonly unknown[] };

const NEWEST_FIRST = 'order by queued_at desc, queued_position desc';
const COLUMNS = 'delivery_id, webhook_id, event_id, event, job_id, replay_of, status, attempts, status_code, failure, duration_ms, queued_at, last_attempt_at, next_attempt_at';

type StoredRow = {
  readonly delivery_id: string;
  readonly webhook_id: string;
  readonly event_id: string;
  readonly event: DeliveryRow['event'];
  readonly job_id: string | null;
  readonly replay_of: string | null;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly status_code: number | null;
  readonly failure: NonNullable<DeliveryRow['failure']> | null;
  readonly duration_ms: string | null;
  readonly queued_at: Date;
  readonly last_attempt_at: Date | null;
  readonly next_attempt_at: Date | null;
};

/** Lists the deliveries of an endpoint. A page that ends beyond `HISTORY_DEPTH_MAX` is empty. Throws `TransientError` when Postgres is away. */
export async function listDeliveries(pool: Pool, query: DeliveryListQuery): Promise<DeliveryList> {
  const { text, values } = listStatement(query);
  const rows = await ask<{ readonly total: string } & { readonly [Column in keyof StoredRow]: StoredRow[Column] | null }>(pool, text, values);
  return { rows: rows.flatMap((row) => (isDelivery(row) ? [toRow(row)] : [])), total: Number(rows[0]?.total ?? 0) };
}

/** One statement, so that the page and the total are of the same moment. The page is found by ids alone, which the indexes hold. */
export function listStatement(query: DeliveryListQuery): Statement {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const wanted = [historyOf(query, bind), ...(query.status === undefined ? [] : [`status = ${bind(query.status)}`])].join(' and ');
  const depth = query.page * query.perPage;
  const page = depth > HISTORY_DEPTH_MAX ? 'select null::uuid as delivery_id where false' : `select delivery_id from deliveries where ${wanted} ${NEWEST_FIRST} limit ${bind(query.perPage)} offset ${bind(depth - query.perPage)}`;
  return {
    text: `select total, ${COLUMNS} from (select count(*) as total from (select from deliveries where ${wanted} limit ${HISTORY_DEPTH_MAX}) as found) as counted
      left join lateral (select ${COLUMNS}, queued_position from (${page}) as page join deliveries using (delivery_id)) as listed on true ${NEWEST_FIRST}`,
    values,
  };
}

/**
 * When each of these endpoints last took a delivery, by its id, as ISO 8601; of any kind, and however long ago. Those that
 * never did are not in it. Throws `TransientError`.
 */
export async function readLastSuccesses(pool: Pool, webhookIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await ask<{ readonly webhook_id: string; readonly succeeded_at: Date }>(pool, 'select webhook_id, succeeded_at from webhook_successes where webhook_id = any($1::uuid[])', [webhookIds]);
  return new Map(rows.map((row) => [row.webhook_id, row.succeeded_at.toISOString()]));
}

/** Which events of an endpoint are to be sent once more: all, or those that it never took. `since` is ISO 8601, `limit` how many at once. */
export type ReplayQuery = HistoryOf & { readonly since: string; readonly status: 'all' | 'failed'; readonly limit: number };

/** Deliveries to repeat, oldest first, and from when on to ask for the rest; without `nextSince` these were all. */
export type Replayable = { readonly deliveries: readonly { readonly deliveryId: string; readonly eventId: string }[]; readonly nextSince?: string };

/**
 * First deliveries of the events since a time, each event once: neither tests nor replays, and none whose event is on its
 * way already, so that a request that is sent twice queues nothing twice. A few more than `limit` come where several were
 * queued in the same millisecond. Throws `TransientError`.
 */
export async function listReplayable(pool: Pool, query: ReplayQuery): Promise<Replayable> {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const history = historyOf(query, bind);
  // What has been delivered since, by a replay too, did not fail; what is queued or waits for its next attempt still goes out.
  const [statuses, settled] = query.status === 'all' ? [['delivered', 'failed', 'stopped'], ['queued', 'retrying']] : [['failed', 'stopped'], ['queued', 'retrying', 'delivered']];
  const text = `
    select delivery_id, event_id, queued_at from deliveries as first
    where ${history} and queued_at >= ${bind(query.since)} and job_id is not null and replay_of is null and status = any(${bind(statuses)}::text[])
      and not exists (select from deliveries as other where other.webhook_id = first.webhook_id and other.event_id = first.event_id and other.status = any(${bind(settled)}::text[]))
    order by queued_at fetch first ${bind(query.limit)} rows with ties`;
  const rows = await ask<{ readonly delivery_id: string; readonly event_id: string; readonly queued_at: Date }>(pool, text, values);
  const last = rows.at(-1);
  return {
    deliveries: rows.map((row) => ({ deliveryId: row.delivery_id, eventId: row.event_id })),
    ...(last && rows.length >= query.limit ? { nextSince: new Date(last.queued_at.getTime() + 1).toISOString() } : {}),
  };
}

function historyOf({ organizationId, webhookId, now }: HistoryOf, bind: (value: unknown) => string): string {
  const oldest = new Date(Date.parse(now) - DELIVERIES_KEPT_MS).toISOString();
  return `organization_id = ${bind(organizationId)} and webhook_id = ${bind(webhookId)} and queued_at > ${bind(oldest)}`;
}

async function ask<Row extends object>(pool: Pool, text: string, values: readonly unknown[]): Promise<readonly Row[]> {
  try {
    return (await pool.query<Row>(text, [...values])).rows;
  } catch (error) {
    throw toTransient(error);
  }
}

/** A page without deliveries still has a row, which holds the total. */
function isDelivery(row: { readonly [Column in keyof StoredRow]: StoredRow[Column] | null }): row is StoredRow {
  return row.delivery_id !== null;
}

function toRow(row: StoredRow): DeliveryRow {
  return {
    deliveryId: row.delivery_id,
    webhookId: row.webhook_id,
    eventId: row.event_id,
    event: row.event,
    ...(row.job_id === null ? {} : { jobId: row.job_id }),
    test: row.job_id === null,
    ...(row.replay_of === null ? {} : { replayOf: row.replay_of }),
    status: row.status,
    attempts: row.attempts,
    ...(row.status_code === null ? {} : { statusCode: row.status_code }),
    ...(row.failure === null ? {} : { failure: row.failure }),
    ...(row.duration_ms === null ? {} : { durationMs: Number(row.duration_ms) }),
    queuedAt: row.queued_at.toISOString(),
    ...(row.last_attempt_at === null ? {} : { lastAttemptAt: row.last_attempt_at.toISOString() }),
    ...(row.next_attempt_at === null ? {} : { nextAttemptAt: row.next_attempt_at.toISOString() }),
  };
}
