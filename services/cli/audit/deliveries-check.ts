import { EVENT_AGE_MS_MAX, STATUS_GONE, type DeliveryState, type LiveDelivery } from '../../../shared/domain/delivery.ts';
import type { JobState } from '../../../shared/domain/job-state.ts';
import { WEBHOOK_EVENTS, type WebhookEvent } from '../../../shared/domain/webhooks.ts';
import type { StoredEvent } from '../../../shared/events/envelope.ts';
import type { DeliveryEvent, EventData } from '../../../shared/events/registry.ts';
import { deliveryIdOf, webhookEventId } from '../../../shared/webhooks/ids.ts';
import type { AuditedEndpoint, AuditedEndpoints, Disabling } from './endpoints.ts';
import type { Findings } from './findings.ts';
import { replayDelivery } from './replay.ts';

/** An event is queued for its endpoints within moments; after this time, in ms, no notifier is there, or it was lost. */
const UNQUEUED_MS_MAX = 600_000;
/**
 * Clocks of two services differ by less than this, in ms. An event that came between the moment an endpoint was asked for
 * and the one it was there belongs to neither, too.
 */
const SKEW_MS = 10_000;

/**
 * The moment that is judged: the time, how far notifiers have queued the events of `JOBS`, where that ends, and whether
 * `DELIVERIES` has let events go already.
 */
export type DeliveriesMoment = { readonly nowMs: number; readonly fannedOutTo: number; readonly jobsEnd: number; readonly hasForgotten: boolean };

type JobEventFacts = { readonly jobId: string; readonly event: WebhookEvent; readonly version: number; readonly organizationId: string; readonly keyMode: 'live' | 'test'; readonly atMs: number };
type Queued = EventData<'delivery.queued'>;
/** What came of an attempt that disabled an endpoint. */
type Cause = { readonly webhookId: string; readonly isTest: boolean; readonly statusCode: number | undefined };

/** Replays `DELIVERIES` event by event, and compares it with what `JOBS` and `ACCOUNTS` say. */
export class DeliveryBooks {
  readonly #endpoints: AuditedEndpoints;
  readonly #moment: DeliveriesMoment;
  readonly #findings: Findings;
  readonly #jobEvents = new Map<number, JobEventFacts>();
  readonly #positionsOf = new Map<string, number[]>();
  readonly #states = new Map<string, DeliveryState>();
  readonly #failures = new Map<string, Cause>();
  readonly #causeIds = new Set<string>();
  /** From this position of `JOBS` on every event is remembered. */
  #knownFrom: number | undefined;
  #firstMs: number | undefined;

  constructor(endpoints: AuditedEndpoints, moment: DeliveriesMoment, findings: Findings) {
    this.#endpoints = endpoints;
    this.#moment = moment;
    this.#findings = findings;
    for (const { causeId } of endpoints.disablings) this.#causeIds.add(causeId);
  }

  /** How many deliveries the log still has. */
  get count(): number {
    return this.#states.size;
  }

  /** Remembers an event of a job that endpoints can subscribe to; `state` is the job after it. */
  noteJobEvent(stored: StoredEvent, state: JobState): void {
    const event = WEBHOOK_EVENTS.find((name) => name === stored.event.type);
    const atMs = Date.parse(stored.envelope.time);
    if (atMs >= this.#moment.nowMs - EVENT_AGE_MS_MAX) this.#knownFrom ??= stored.position;
    if (this.#knownFrom === undefined || event === undefined || state.kind !== 'live' || !this.#endpoints.has(state.created.organization_id)) return;
    const { organization_id: organizationId, key_mode: keyMode } = state.created;
    this.#jobEvents.set(stored.position, { jobId: stored.aggregate.id, event, version: stored.version, organizationId, keyMode, atMs });
    const positions = this.#positionsOf.get(organizationId) ?? [];
    positions.push(stored.position);
    this.#positionsOf.set(organizationId, positions);
  }

  /** Applies the next event of `DELIVERIES`. Throws `IllegalEventError` when the rules would not have made it; nothing has changed then. */
  apply(stored: StoredEvent): void {
    const { id } = stored.aggregate;
    const { time } = stored.envelope;
    this.#firstMs ??= Date.parse(time);
    const before = this.#states.get(id) ?? { kind: 'none' };
    // Its beginning has aged out.
    if (before.kind === 'none' && stored.version > 1) return;
    // The stream DELIVERIES holds events of deliveries only; `decode` checked it.
    const event = stored.event as DeliveryEvent;
    const after = replayDelivery(before, event, time);
    if (after.kind === 'none') return;
    this.#states.set(id, withoutTyped(after));
    if (event.type === 'delivery.queued') this.#checkQueued(stored, event.data);
    if (event.type === 'delivery.attempted' && event.data.outcome === 'failed' && this.#causeIds.has(stored.envelope.id)) {
      const { webhook_id: webhookId, source } = after.queued;
      this.#failures.set(stored.envelope.id, { webhookId, isTest: source.kind === 'test', statusCode: event.data.status_code });
    }
  }

  /** Once everything was applied: every event that an endpoint is subscribed to was queued for it, and no endpoint was disabled without cause. */
  checkWhole(): void {
    for (const [webhookId, endpoint] of this.#endpoints.subscribed()) {
      for (const position of this.#positionsOf.get(endpoint.organizationId) ?? []) {
        const facts = this.#jobEvents.get(position);
        if (facts && this.#isMissing(webhookId, endpoint, position, facts)) this.#findings.add('delivery', `job.${facts.jobId}`, `its ${facts.event} (position ${position}) was not queued for the endpoint ${webhookId}`);
      }
    }
    for (const disabling of this.#endpoints.disablings) {
      const problem = this.#disablingProblem(disabling);
      if (problem !== undefined) this.#findings.add('delivery', `webhook.${disabling.webhookId}`, problem);
    }
  }

  #checkQueued({ aggregate, envelope, position }: StoredEvent, queued: Queued): void {
    const endpoint = this.#endpoints.find(queued.webhook_id);
    const problem = endpoint ? this.#queuedProblem(aggregate.id, envelope.tenant, queued, endpoint) : 'it is for an endpoint that never was';
    if (problem !== undefined) this.#findings.add('delivery', `delivery.${aggregate.id}`, `${problem} (position ${position})`);
  }

  #queuedProblem(deliveryId: string, tenant: string, queued: Queued, endpoint: AuditedEndpoint): string | undefined {
    if (endpoint.organizationId !== tenant || endpoint.key_mode !== queued.key_mode) return 'it is for an endpoint of another organization or mode';
    const subscribedAfter = endpoint.activations.get(queued.activation);
    if (subscribedAfter === undefined) return `its endpoint was not enabled by version ${queued.activation} of its account`;
    const { source, event, event_id, replay_of } = queued;
    // A test is sent whatever is subscribed, under an id of its own.
    if (source.kind === 'test') return undefined;
    if (!endpoint.events.includes(event)) return `its endpoint is not subscribed to ${event}`;
    if (event_id !== webhookEventId(source.job_id, event, source.position)) return 'its event id does not follow from the event';
    if (replay_of === undefined && deliveryId !== deliveryIdOf(event_id, queued.webhook_id)) return 'its id does not follow from event and endpoint';
    if (replay_of === undefined && source.position <= subscribedAfter) return 'its endpoint was not subscribed yet when the event happened';
    return this.#sourceProblem(tenant, queued, source);
  }

  /** What happened after the end that is looked at, or too long ago, is not known. */
  #sourceProblem(tenant: string, { event, key_mode }: Queued, { job_id, position, version }: Extract<Queued['source'], { kind: 'job' }>): string | undefined {
    const facts = this.#jobEvents.get(position);
    if (!facts) return position >= (this.#knownFrom ?? Infinity) && position <= this.#moment.jobsEnd ? 'there is no such event of a job' : undefined;
    const isSame = facts.jobId === job_id && facts.event === event && facts.version === version && facts.organizationId === tenant && facts.keyMode === key_mode;
    return isSame ? undefined : 'it tells of another event than the one that lies there';
  }

  #isMissing(webhookId: string, endpoint: AuditedEndpoint & { readonly subscribed: NonNullable<AuditedEndpoint['subscribed']> }, position: number, facts: JobEventFacts): boolean {
    const { sinceMs, position: subscribedAfter } = endpoint.subscribed;
    const isWanted = facts.keyMode === endpoint.key_mode && endpoint.events.includes(facts.event);
    if (!isWanted || position <= subscribedAfter || facts.atMs < sinceMs + SKEW_MS) return false;
    if (this.#states.has(deliveryIdOf(webhookEventId(facts.jobId, facts.event, position), webhookId))) return false;
    return position <= this.#moment.fannedOutTo || this.#moment.nowMs - facts.atMs > UNQUEUED_MS_MAX;
  }

  /** The event that caused it names the failure; how long failures are borne is a setting. */
  #disablingProblem({ webhookId, reason, causeId, atMs }: Disabling): string | undefined {
    const hasAgedOut = this.#moment.hasForgotten && atMs < (this.#firstMs ?? Infinity) + SKEW_MS;
    if (hasAgedOut || atMs > this.#moment.nowMs - SKEW_MS) return undefined;
    const cause = this.#failures.get(causeId);
    const isCause = cause?.webhookId === webhookId && (reason === 'gone_410' ? cause.statusCode === STATUS_GONE : !cause.isTest);
    return isCause ? undefined : `it was disabled as ${reason}, but no attempt caused that`;
  }
}

/** Nothing here looks at what a client typed, and it may be long. */
function withoutTyped(state: LiveDelivery): LiveDelivery {
  const { typed: _typed, ...queued } = state.queued;
  return { ...state, queued };
}
