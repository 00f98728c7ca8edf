import type { Database, Statement } from 'better-sqlite3';
import type { WebhookAccountEvent, WebhookEvent } from '../domain/webhooks.ts';
import type { StoredEvent } from '../events/envelope.ts';
import type { EventData } from '../events/registry.ts';

type Created = EventData<'account.webhook_created'>;
type DisabledReason = EventData<'account.webhook_disabled'>['reason'];

/** A webhook endpoint as a process knows it; `details` and the secrets are sealed under the endpoint's key. */
export type WebhookEndpoint = {
  readonly webhook_id: string;
  readonly organization_id: string;
  readonly key_mode: Created['key_mode'];
  readonly events: readonly WebhookEvent[];
  readonly details: string;
  readonly secret: string;
  /** The secret before this one, which signs too until `until` (D68). */
  readonly previous?: { readonly secret: string; readonly until: string };
  readonly enabled: boolean;
  readonly disabled_reason?: DisabledReason;
  readonly disabled_at?: string;
  readonly created_at: string;
  /** Version of the account's event that last enabled it; a delivery that was queued under another one is not made (D72). */
  readonly activation: number;
  /** It is subscribed to events of jobs after this position. */
  readonly jobs_position: number;
};

type Row = {
  readonly webhook_id: string;
  readonly organization_id: string;
  readonly key_mode: Created['key_mode'];
  readonly events: string;
  readonly details: string;
  readonly secret: string;
  readonly previous_secret: string | null;
  readonly previous_until: string | null;
  readonly disabled_reason: DisabledReason | null;
  readonly disabled_at: string | null;
  readonly created_at: string;
  readonly activation: number;
  readonly jobs_position: number;
};

/** Table of the webhook endpoints that are there; one that was deleted has no row. */
export const WEBHOOK_TABLES = `
  create table webhooks (
    webhook_id text primary key, organization_id text not null, key_mode text not null, events text not null, details text not null,
    secret text not null, previous_secret text, previous_until text, disabled_reason text, disabled_at text, created_at text not null,
    activation integer not null, jobs_position integer not null
  ) without rowid;
  create index webhooks_of_organization on webhooks (organization_id, created_at, webhook_id);
`;

/** Questions about the webhook endpoints in a copy of `ACCOUNTS`. */
export class WebhookTables {
  readonly #find: Statement<[string], Row>;
  readonly #ofOrganization: Statement<[string], Row>;
  readonly #countDisabled: Statement<[], { readonly count: number }>;

  constructor(database: Database) {
    this.#find = database.prepare('select * from webhooks where webhook_id = ?');
    this.#countDisabled = database.prepare('select count(*) as count from webhooks where disabled_reason is not null');
    this.#ofOrganization = database.prepare('select * from webhooks where organization_id = ? order by created_at, webhook_id');
  }

  /** The endpoint; undefined when there is none, or none any more. */
  find(webhookId: string): WebhookEndpoint | undefined {
    const row = this.#find.get(webhookId);
    return row && toEndpoint(row);
  }

  /** How many endpoints are disabled, of all organizations. */
  countDisabled(): number {
    return this.#countDisabled.get()?.count ?? 0;
  }

  /** Endpoints of an organization, oldest first; those of one mode, or all. */
  of(organizationId: string, keyMode?: Created['key_mode']): readonly WebhookEndpoint[] {
    const rows = this.#ofOrganization.all(organizationId);
    return rows.filter((row) => keyMode === undefined || row.key_mode === keyMode).map(toEndpoint);
  }
}

/** Applies an event about an endpoint to the table. */
export function applyWebhookEvent(database: Database, stored: StoredEvent, event: WebhookAccountEvent): void {
  const { webhook_id } = event.data;
  switch (event.type) {
    case 'account.webhook_created': {
      const { key_mode, events, details, secret, jobs_position } = event.data;
      database
        .prepare(
          `insert into webhooks (webhook_id, organization_id, key_mode, events, details, secret, created_at, activation, jobs_position)
           values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        )
        .run(webhook_id, stored.aggregate.id, key_mode, JSON.stringify(events), details, secret, stored.envelope.time, stored.version, jobs_position);
      return;
    }
    case 'account.webhook_deleted':
      database.prepare('delete from webhooks where webhook_id = ?').run(webhook_id);
      return;
    case 'account.webhook_disabled':
      database.prepare('update webhooks set disabled_reason = ?, disabled_at = ? where webhook_id = ?').run(event.data.reason, stored.envelope.time, webhook_id);
      return;
    case 'account.webhook_enabled':
      database
        .prepare('update webhooks set disabled_reason = null, disabled_at = null, activation = ?, jobs_position = ? where webhook_id = ?')
        .run(stored.version, event.data.jobs_position, webhook_id);
      return;
    case 'account.webhook_secret_rotated':
      database
        .prepare('update webhooks set previous_secret = secret, previous_until = ?, secret = ? where webhook_id = ?')
        .run(event.data.previous_until, event.data.secret, webhook_id);
      return;
    default:
      event satisfies never;
  }
}

function toEndpoint({ events, previous_secret, previous_until, disabled_reason, disabled_at, ...row }: Row): WebhookEndpoint {
  return {
    ...row,
    // Written above, out of an event that `decode` checked.
    events: JSON.parse(events) as WebhookEvent[],
    ...(previous_secret === null || previous_until === null ? {} : { previous: { secret: previous_secret, until: previous_until } }),
    enabled: disabled_reason === null,
    ...(disabled_reason === null ? {} : { disabled_reason }),
    ...(disabled_at === null ? {} : { disabled_at }),
  };
}
