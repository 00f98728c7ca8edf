import type { Database, Statement } from 'better-sqlite3';
import { creditsDecider, type CreditsState, type Hold } from '../../shared/domain/credits.ts';
import { Defect } from '../../shared/errors/errors.ts';
import type { StoredEvent } from '../../shared/events/envelope.ts';
import type { CreditsEvent } from '../../shared/events/registry.ts';
import { requireNext } from '../../shared/store/stored-message.ts';

/** Raised when `CREDITS_TABLES` changes; older copies are then filled anew. */
export const CREDITS_TABLES_VERSION = 1;

/** Sums of each organization, the hold of each job, and the grants there were. */
export const CREDITS_TABLES = `
  create table accounts (
    organization_id text primary key, version integer not null, last_hash text not null,
    granted integer not null, held integer not null, charged integer not null,
    check (held >= 0 and charged >= 0 and granted - held - charged >= 0)
  ) without rowid;
  create table holds (
    job_id text primary key, organization_id text not null, amount integer not null, status text not null,
    position integer not null, held_at text not null
  ) without rowid;
  create index holds_open on holds (organization_id, position) where status = 'held';
  create table grants (event_id text primary key, organization_id text not null, position integer not null) without rowid;
`;

/** Sums of one organization, and the version and hash of its last event. */
export type AccountRow = { readonly version: number; readonly last_hash: string; readonly granted: number; readonly held: number; readonly charged: number };
/** The hold of one job; `position` and `held_at` are those of `credits.held`. */
export type HoldRow = Hold & { readonly job_id: string; readonly organization_id: string; readonly position: number; readonly held_at: string };

/** Reads and writes the tables; the writing side is called by the reader of `CREDITS` only. */
export class CreditsTables {
  readonly #account: Statement<[string], AccountRow>;
  readonly #hold: Statement<[string], HoldRow>;
  readonly #openHolds: Statement<[string, number, number], HoldRow>;
  readonly #openHoldsCount: Statement<[string], { count: number }>;
  readonly #allOpenHolds: Statement<[string, number, number], HoldRow>;
  readonly #grant: Statement<[string, string], { position: number }>;
  readonly #putAccount: Statement<[string, number, string, number, number, number]>;
  readonly #putHold: Statement<[string, string, number, number, string]>;
  readonly #endHold: Statement<[string, string]>;
  readonly #putGrant: Statement<[string, string, number]>;

  constructor(database: Database) {
    this.#account = database.prepare('select version, last_hash, granted, held, charged from accounts where organization_id = ?');
    this.#hold = database.prepare('select * from holds where job_id = ?');
    this.#openHolds = database.prepare("select * from holds where organization_id = ? and status = 'held' and position > ? order by position limit ?");
    this.#openHoldsCount = database.prepare("select count(*) as count from holds where organization_id = ? and status = 'held'");
    this.#allOpenHolds = database.prepare("select * from holds where status = 'held' and (organization_id, position) > (?, ?) order by organization_id, position limit ?");
    this.#grant = database.prepare('select position from grants where event_id = ? and organization_id = ?');
    this.#putAccount = database.prepare('insert or replace into accounts values (?, ?, ?, ?, ?, ?)');
    this.#putHold = database.prepare("insert into holds values (?, ?, ?, 'held', ?, ?)");
    this.#endHold = database.prepare('update holds set status = ? where job_id = ?');
    this.#putGrant = database.prepare('insert into grants values (?, ?, ?)');
  }

  findAccount(organizationId: string): AccountRow | undefined {
    return this.#account.get(organizationId);
  }

  findHold(jobId: string): HoldRow | undefined {
    return this.#hold.get(jobId);
  }

  /** Holds that are neither charged nor released, oldest first, after a position. */
  listOpenHolds(organizationId: string, afterPosition: number, limit: number): HoldRow[] {
    return this.#openHolds.all(organizationId, afterPosition, limit);
  }

  /** How many holds `listOpenHolds` has in all. */
  countOpenHolds(organizationId: string): number {
    return this.#openHoldsCount.get(organizationId)?.count ?? 0;
  }

  /** Holds of all organizations that are neither charged nor released, one organization after the other, after a hold. */
  listAllOpenHolds(after: Pick<HoldRow, 'organization_id' | 'position'> | undefined, limit: number): HoldRow[] {
    return this.#allOpenHolds.all(after?.organization_id ?? '', after?.position ?? 0, limit);
  }

  /** Position of the grant with this event id. */
  findGrant(eventId: string, organizationId: string): number | undefined {
    return this.#grant.get(eventId, organizationId)?.position;
  }

  /** Folded state of an organization as far as one job is concerned; without a job, no hold is in it. */
  readState(organizationId: string, jobId: string | undefined): CreditsState {
    const { granted, held, charged } = this.findAccount(organizationId) ?? creditsDecider.initialState;
    const hold = jobId === undefined ? undefined : this.findHold(jobId);
    if (hold && hold.organization_id !== organizationId) throw new Defect('the credits of a job are held by another organization');
    return { granted, held, charged, holds: new Map(hold ? [[hold.job_id, { amount: hold.amount, status: hold.status }]] : []) };
  }

  /** Applies the next event of an organization. Throws `Defect` when it does not follow the one before it. */
  apply(stored: StoredEvent): void {
    const organizationId = stored.aggregate.id;
    // The stream CREDITS holds credits events only; `decode` checked it.
    const event = stored.event as CreditsEvent;
    const before = this.findAccount(organizationId);
    requireNext(stored, before && { version: before.version, hash: before.last_hash });
    const jobId = event.type === 'credits.granted' ? undefined : event.data.job_id;
    const after = creditsDecider.evolve(this.readState(organizationId, jobId), event);
    this.#putAccount.run(organizationId, stored.version, stored.hash, after.granted, after.held, after.charged);
    if (event.type === 'credits.granted') this.#putGrant.run(stored.envelope.id, organizationId, stored.position);
    else if (event.type === 'credits.held') this.#putHold.run(event.data.job_id, organizationId, event.data.amount, stored.position, stored.envelope.time);
    else this.#endHold.run(event.type === 'credits.charged' ? 'charged' : 'released', event.data.job_id);
  }
}
