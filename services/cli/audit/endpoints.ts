import type { StoredEvent } from '../../../shared/events/envelope.ts';
import type { AccountEvent, EventData } from '../../../shared/events/registry.ts';

type Created = EventData<'account.webhook_created'>;

/** A webhook endpoint as `ACCOUNTS` has it, deleted ones among them. */
export type AuditedEndpoint = Pick<Created, 'key_mode' | 'events'> & {
  readonly organizationId: string;
  /** Version of the account's event that enabled it, and the position of `JOBS` after which it was subscribed from then on; every time it was. */
  readonly activations: ReadonlyMap<number, number>;
  /** How it stands: since when it is subscribed, or that it is not. */
  readonly subscribed?: { readonly sinceMs: number; readonly position: number };
};

/** An endpoint was disabled: why, and the event that caused it. */
export type Disabling = { readonly webhookId: string; readonly reason: EventData<'account.webhook_disabled'>['reason']; readonly causeId: string; readonly atMs: number };

/** What `ACCOUNTS` says of webhook endpoints, applied event by event. */
export class AuditedEndpoints {
  readonly #endpoints = new Map<string, AuditedEndpoint>();
  readonly #organizations = new Set<string>();
  readonly disablings: Disabling[] = [];

  find(webhookId: string): AuditedEndpoint | undefined {
    return this.#endpoints.get(webhookId);
  }

  /** Endpoints that take events now, by their id. */
  *subscribed(): Generator<readonly [string, AuditedEndpoint & { readonly subscribed: NonNullable<AuditedEndpoint['subscribed']> }]> {
    for (const [id, endpoint] of this.#endpoints) if (endpoint.subscribed) yield [id, { ...endpoint, subscribed: endpoint.subscribed }];
  }

  /** True when the organization ever had an endpoint. */
  has(organizationId: string): boolean {
    return this.#organizations.has(organizationId);
  }

  apply(stored: StoredEvent): void {
    // The stream ACCOUNTS holds account events only; `decode` checked it.
    const event = stored.event as AccountEvent;
    const atMs = Date.parse(stored.envelope.time);
    switch (event.type) {
      case 'account.webhook_created': {
        const { webhook_id, key_mode, events, jobs_position } = event.data;
        const { id: organizationId } = stored.aggregate;
        this.#organizations.add(organizationId);
        this.#endpoints.set(webhook_id, { organizationId, key_mode, events, activations: new Map([[stored.version, jobs_position]]), subscribed: { sinceMs: atMs, position: jobs_position } });
        return;
      }
      case 'account.webhook_enabled': {
        const endpoint = this.#endpoints.get(event.data.webhook_id);
        if (!endpoint) return;
        const { webhook_id, jobs_position } = event.data;
        this.#endpoints.set(webhook_id, { ...endpoint, activations: new Map(endpoint.activations).set(stored.version, jobs_position), subscribed: { sinceMs: atMs, position: jobs_position } });
        return;
      }
      case 'account.webhook_disabled':
        this.#unsubscribe(event.data.webhook_id);
        this.disablings.push({ webhookId: event.data.webhook_id, reason: event.data.reason, causeId: stored.envelope.causationid, atMs });
        return;
      case 'account.webhook_deleted':
        this.#unsubscribe(event.data.webhook_id);
        return;
      default:
        // Nothing else is about endpoints.
    }
  }

  #unsubscribe(webhookId: string): void {
    const endpoint = this.#endpoints.get(webhookId);
    if (!endpoint) return;
    const { subscribed: _subscribed, ...rest } = endpoint;
    this.#endpoints.set(webhookId, rest);
  }
}
