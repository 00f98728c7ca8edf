import type { NatsConnection } from '@nats-io/transport-node';
import type { Database } from 'better-sqlite3';
import { openLocalCopy, type LocalCopy } from '../consume/local-copy.ts';
import { streamExtent } from '../consume/read-stream.ts';
import type { WebhookEvent } from '../domain/webhooks.ts';
import { TransientError } from '../errors/errors.ts';
import type { StoredEvent } from '../events/envelope.ts';
import type { AccountEvent, EventData } from '../events/registry.ts';
import type { Logger } from '../log/log.ts';
import { requireNext, type ChainHead } from '../store/stored-message.ts';
import { applyWebhookEvent, WEBHOOK_TABLES, WebhookTables, type WebhookEndpoint } from './webhook-tables.ts';

type Scope = EventData<'account.api_key_created'>['scopes'][number];

/** An API key that may be used now, with what its organization allows. */
export type KeyContext = {
  readonly api_key_id: string;
  readonly organization_id: string;
  readonly key_mode: 'live' | 'test';
  readonly scopes: readonly Scope[];
  readonly plan: 'free' | 'active';
};

type KeyRow = Omit<KeyContext, 'scopes'> & { readonly scopes: string; readonly expires_at: string | null };

const TABLES = `
  create table organizations (organization_id text primary key, plan text not null) without rowid;
  create table heads (organization_id text primary key, version integer not null, hash text not null) without rowid;
  create table api_keys (
    api_key_id text primary key, organization_id text not null, key_mode text not null, scopes text not null,
    secret_sha256 text not null unique, expires_at text, revoked integer not null default 0
  ) without rowid;
  ${WEBHOOK_TABLES}
`;
const STREAM = 'ACCOUNTS';

/** Organizations, API keys and webhook endpoints, in this process: asking who somebody is takes no network (design: Reading). */
export class AccountsCopy {
  /** Follows `ACCOUNTS`: how far it has come, and whether it stands still. */
  readonly reader: LocalCopy['reader'];
  readonly #copy: LocalCopy;
  readonly #findKey: ReturnType<Database['prepare']>;
  readonly #findOrganization: ReturnType<Database['prepare']>;
  readonly #nc: NatsConnection;
  readonly #webhooks: WebhookTables;

  private constructor(nc: NatsConnection, copy: LocalCopy) {
    this.#nc = nc;
    this.#copy = copy;
    this.reader = copy.reader;
    this.#findKey = copy.database.prepare(
      'select api_key_id, organization_id, key_mode, scopes, plan, expires_at from api_keys join organizations using (organization_id) where secret_sha256 = ? and revoked = 0',
    );
    this.#findOrganization = copy.database.prepare('select organization_id from api_keys where api_key_id = ?');
    this.#webhooks = new WebhookTables(copy.database);
  }

  /** Opens the copy in `folder` (in memory without one) and follows `ACCOUNTS`. */
  static async open(nc: NatsConnection, logger: Logger, folder?: string): Promise<AccountsCopy> {
    const definition = { stream: STREAM, name: 'accounts', version: 3, tables: TABLES, apply: applyAccountEvent };
    return new AccountsCopy(nc, await openLocalCopy(nc, folder === undefined ? definition : { ...definition, folder }, logger));
  }

  /** The key whose secret has this SHA-256, unless it is unknown, revoked, rotated or expired at `now` (§5). */
  findKey(secretSha256: string, now: string): KeyContext | undefined {
    const row = this.#findKey.get(secretSha256) as KeyRow | undefined;
    if (!row || (row.expires_at !== null && row.expires_at <= now)) return undefined;
    const { expires_at: _expiry, scopes, ...rest } = row;
    return { ...rest, scopes: JSON.parse(scopes) as Scope[] };
  }

  /** The organization that owns an API key. */
  organizationOf(apiKeyId: string): string | undefined {
    return (this.#findOrganization.get(apiKeyId) as { organization_id: string } | undefined)?.organization_id;
  }

  /** The endpoint, whatever its state; undefined when there is none, or none any more. */
  findWebhook(webhookId: string): WebhookEndpoint | undefined {
    return this.#webhooks.find(webhookId);
  }

  /** How many endpoints are disabled, of all organizations. */
  countDisabledWebhooks(): number {
    return this.#webhooks.countDisabled();
  }

  /** Endpoints of an organization, oldest first: those of one mode (D53), or all. */
  webhooksOf(organizationId: string, keyMode?: 'live' | 'test'): readonly WebhookEndpoint[] {
    return this.#webhooks.of(organizationId, keyMode);
  }

  /**
   * Endpoints to which the event of a job at this position of `JOBS` is to be sent: enabled ones of its mode that asked for
   * it before it happened. Right once the copy has caught up after the event was stored.
   */
  subscribers(organizationId: string, keyMode: 'live' | 'test', event: WebhookEvent, position: number): readonly WebhookEndpoint[] {
    return this.webhooksOf(organizationId, keyMode).filter((webhook) => webhook.enabled && webhook.jobs_position < position && webhook.events.includes(event));
  }

  /** Waits until everything that lies in `ACCOUNTS` now is applied. Throws `TransientError` when that takes longer. */
  async catchUp(timeoutMs: number): Promise<void> {
    const { last } = await streamExtent(this.#nc, STREAM);
    if (!(await this.reader.waitFor(last, timeoutMs))) throw new TransientError('nats', 'the copy of the accounts is behind');
  }

  stop(): Promise<void> {
    return this.#copy.stop();
  }
}

/** Throws `Defect` when the event does not follow the one before it. */
function applyAccountEvent(database: Database, stored: StoredEvent): void {
  const organizationId = stored.aggregate.id;
  // A key that somebody forged into the stream must not open anything.
  requireNext(stored, database.prepare<[string], ChainHead>('select version, hash from heads where organization_id = ?').get(organizationId));
  database.prepare('insert or replace into heads values (?, ?, ?)').run(organizationId, stored.version, stored.hash);
  // The stream ACCOUNTS holds account events only; `decode` checked it.
  const event = stored.event as AccountEvent;
  switch (event.type) {
    case 'account.created':
      database.prepare('insert into organizations values (?, ?)').run(organizationId, event.data.plan);
      return;
    case 'account.plan_changed':
      database.prepare('update organizations set plan = ? where organization_id = ?').run(event.data.plan, organizationId);
      return;
    case 'account.api_key_created': {
      const { api_key_id, key_mode, scopes, secret_sha256, expires_at } = event.data;
      database
        .prepare('insert into api_keys (api_key_id, organization_id, key_mode, scopes, secret_sha256, expires_at) values (?, ?, ?, ?, ?, ?)')
        .run(api_key_id, organizationId, key_mode, JSON.stringify(scopes), secret_sha256, expires_at ?? null);
      return;
    }
    case 'account.api_key_rotated':
      database.prepare('update api_keys set secret_sha256 = ? where api_key_id = ?').run(event.data.secret_sha256, event.data.api_key_id);
      return;
    case 'account.api_key_revoked':
      database.prepare('update api_keys set revoked = 1 where api_key_id = ?').run(event.data.api_key_id);
      return;
    case 'account.webhook_created':
    case 'account.webhook_deleted':
    case 'account.webhook_disabled':
    case 'account.webhook_enabled':
    case 'account.webhook_secret_rotated':
      applyWebhookEvent(database, stored, event);
      return;
    default:
      event satisfies never;
  }
}
