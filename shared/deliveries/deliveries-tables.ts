import type { Database, Statement } from 'better-sqlite3';
import { DELIVERIES_KEPT_MS } from '../domain/delivery.ts';
import type { StoredEvent } from '../events/envelope.ts';
import type { DeliveryEvent, EventData } from '../events/registry.ts';
import { requireNext } from '../store/stored-message.ts';

/** Every so many events what is too old is removed. */
const SWEEP_EVERY = 1_000;

/** Raised when the tables change. */
export const DELIVERIES_TABLES_VERSION = 2;
/** Deliveries that have not ended, and how each endpoint has fared. */
export const DELIVERIES_TABLES = `
  create table open_deliveries (
    delivery_id text primary key, webhook_id text not null, activation integer not null, test integer not null,
    queued_at text not null, due_at text not null, version integer not null, hash text not null
  ) without rowid;
  create index open_deliveries_due on open_deliveries (due_at);
  create index open_deliveries_queued on open_deliveries (queued_at);
  create table endpoints (
    webhook_id text primary key, activation integer not null, failing_since text
  ) without rowid;
`;

/** How an endpoint has fared. */
export type EndpointRecord = {
  /** Time of the oldest failure since the last success, under the activation that was asked for. Failures of tests do not count, their successes do (D58, D71). */
  readonly failingSince?: string;
};

type OpenRow = { readonly webhook_id: string; readonly activation: number; readonly test: number; readonly version: number; readonly hash: string };
type EndpointRow = { readonly activation: number; readonly failing_since: string | null };

/** Tables of the copy of `DELIVERIES`: written event by event, asked by the notifier. */
export class DeliveriesTables {
  readonly #findOpen: Statement<[string], OpenRow>;
  readonly #putOpen: Statement<[string, string, number, number, string, string, number, string]>;
  readonly #moveOpen: Statement<[number, string, string | null, string]>;
  readonly #dropOpen: Statement<[string]>;
  readonly #sweep: Statement<[string]>;
  readonly #oldestDue: Statement<[string], { readonly due_at: string | null }>;
  readonly #findEndpoint: Statement<[string], EndpointRow>;
  readonly #putEndpoint: Statement<[string, number, string | null]>;

  constructor(database: Database) {
    this.#findOpen = database.prepare('select webhook_id, activation, test, version, hash from open_deliveries where delivery_id = ?');
    this.#putOpen = database.prepare('insert into open_deliveries values (?, ?, ?, ?, ?, ?, ?, ?)');
    this.#moveOpen = database.prepare('update open_deliveries set version = ?, hash = ?, due_at = coalesce(?, due_at) where delivery_id = ?');
    this.#dropOpen = database.prepare('delete from open_deliveries where delivery_id = ?');
    this.#sweep = database.prepare('delete from open_deliveries where queued_at < ?');
    this.#oldestDue = database.prepare('select min(due_at) as due_at from open_deliveries where due_at <= ?');
    this.#findEndpoint = database.prepare('select activation, failing_since from endpoints where webhook_id = ?');
    this.#putEndpoint = database.prepare('insert or replace into endpoints values (?, ?, ?)');
  }

  /** How an endpoint has fared; what failed under an earlier activation does not count. */
  findRecord(webhookId: string, activation: number): EndpointRecord {
    const row = this.#findEndpoint.get(webhookId);
    return !row || row.failing_since === null || row.activation !== activation ? {} : { failingSince: row.failing_since };
  }

  /** Since when the delivery waits that has waited longest for an attempt that is due at `now`; undefined when none does. */
  findOldestDue(now: string): string | undefined {
    return this.#oldestDue.get(now)?.due_at ?? undefined;
  }

  /** Applies the next event of the stream. Throws `Defect` when it does not follow the one before it. */
  apply(stored: StoredEvent): void {
    const { id } = stored.aggregate;
    if (stored.position % SWEEP_EVERY === 0) this.#sweep.run(new Date(Date.parse(stored.envelope.time) - DELIVERIES_KEPT_MS).toISOString());
    const open = this.#findOpen.get(id);
    // Its beginning has aged out, or it was too old to be remembered.
    if (!open && stored.version > 1) return;
    requireNext(stored, open);
    // The stream DELIVERIES holds events of deliveries only; `decode` checked it.
    const event = stored.event as DeliveryEvent;
    if (event.type === 'delivery.queued') {
      const { webhook_id, activation, source } = event.data;
      const { time } = stored.envelope;
      this.#putOpen.run(id, webhook_id, activation, source.kind === 'test' ? 1 : 0, time, time, stored.version, stored.hash);
      return;
    }
    if (event.type === 'delivery.attempted' && open) this.#record(open, event.data, stored.envelope.time);
    const next = event.type === 'delivery.attempted' ? event.data.next_attempt_at : undefined;
    if (event.type === 'delivery.attempt_started' || next !== undefined) this.#moveOpen.run(stored.version, stored.hash, next ?? null, id);
    else this.#dropOpen.run(id);
  }

  #record({ webhook_id, activation, test }: OpenRow, { outcome, failure }: EventData<'delivery.attempted'>, time: string): void {
    const before = this.#findEndpoint.get(webhook_id);
    const current = Math.max(activation, before?.activation ?? 0);
    if (outcome === 'delivered') {
      this.#putEndpoint.run(webhook_id, current, null);
      return;
    }
    // That an attempt was cut off says nothing about the endpoint.
    if (test === 1 || failure === 'interrupted' || activation < current) return;
    const since = before?.activation === activation ? before.failing_since : null;
    this.#putEndpoint.run(webhook_id, activation, since ?? time);
  }
}
