import { expect } from 'chai';
import type { NatsConnection } from '@nats-io/transport-node';
import { startLedger } from '../../../services/ledger/ledger.ts';
import { waitFor } from '../../../services/standalone/processes.ts';
import { systemClock } from '../../../shared/clock/clock.ts';
import type { StoredEvent } from '../../../shared/events/envelope.ts';
import type { CreditsEvent, DomainEvent, EventData } from '../../../shared/events/registry.ts';
import { newId } from '../../../shared/ids/ids.ts';
import { grantCredits, requestHold } from '../../../shared/ledger-client/ledger-client.ts';
import type { HoldAnswer, HoldRequest } from '../../../shared/ledger-client/messages.ts';
import { Cleanup } from '../../../shared/lifecycle/run-service.ts';
import { createLogger } from '../../../shared/log/log.ts';
import { connectNats } from '../../../shared/nats/connect.ts';
import { watchAppends } from '../../../shared/store/append-watch.ts';
import { afterLast, type EventStore } from '../../../shared/store/event-store.ts';
import { createJetStreamStore } from '../../../shared/store/jetstream.ts';
import { applyStreams } from '../../../streams/apply.ts';
import { conversionStarted, created, finished, sourceReceived } from '../../support/job-events.ts';
import { startNats, type TestNats } from '../../support/servers.ts';

/** How long a test waits for what a ledger does by itself, in ms. */
const EVENTUALLY_MS = 15_000;
/** Long enough that no hold of a test is released unless the test is about that, in ms. */
const HOLD_RELEASE_MS = 120_000;
/** As long as in operation, so that a job counts as active unless a test is about that, in ms. */
const UPLOAD_GRACE_MS = 3_600_000;

export const logger = createLogger('test', 'silent');

/** A ledger of a test. */
export type TestLedger = { readonly stop: () => Promise<void> };

/** A real server with our streams, and everything the tests of the ledger do with it. */
export class World {
  readonly server: TestNats;
  readonly nc: NatsConnection;
  readonly store: EventStore;
  readonly #cleanup = new Cleanup();

  private constructor(server: TestNats, nc: NatsConnection) {
    this.server = server;
    this.nc = nc;
    this.store = createJetStreamStore(nc);
    this.#cleanup.add('server', () => server.stop());
    this.#cleanup.add('connection', () => nc.close());
  }

  static async start(): Promise<World> {
    const server = await startNats();
    const world = new World(server, await connectNats({ url: server.url, name: 'test', logger }));
    await applyStreams(world.nc, { replicas: 1, log: () => undefined });
    return world;
  }

  /** Has something else stopped with this world, also when a test fails; it may be stopped before. */
  onStop(name: string, stop: () => Promise<void>): void {
    this.#cleanup.add(name, stop);
  }

  /** Stops everything this world started, ledgers included. */
  stop(): Promise<void> {
    return this.#cleanup.run(logger);
  }

  /** Starts a ledger with a connection and a copy of its own, as another process would have. */
  async startLedger(options: { holdReleaseMs?: number; uploadGraceMs?: number; copyFolder?: string; store?: EventStore } = {}): Promise<TestLedger> {
    const nc = await connectNats({ url: this.server.url, name: 'ledger', logger });
    const cleanup = new Cleanup();
    cleanup.add('connection', () => nc.close());
    const appendWatch = watchAppends(nc);
    const store = appendWatch.watched(options.store ?? createJetStreamStore(nc));
    const parts = { nc, clock: systemClock, holdReleaseMs: HOLD_RELEASE_MS, uploadGraceMs: UPLOAD_GRACE_MS, ...options, store, appendWatch };
    await startLedger(parts, cleanup, logger);
    const ledger = { stop: () => cleanup.run(logger) };
    this.#cleanup.add('ledger', ledger.stop);
    return ledger;
  }

  /** A new organization that has these credits. */
  async organizationWith(amount: number): Promise<string> {
    const organizationId = newId(Date.now());
    await this.grant(organizationId, amount);
    return organizationId;
  }

  async grant(organizationId: string, amount: number, commandId: string = newId(Date.now())): Promise<number> {
    const answer = await grantCredits(this.nc, { organization_id: organizationId, amount, command_id: commandId, correlation_id: commandId, actor: 'operator' });
    return answer.balance;
  }

  hold(organizationId: string, amount: number, jobId: string = newId(Date.now()), activeJobsMax?: number): Promise<HoldAnswer> {
    return requestHold(this.nc, { ...holdRequestOf(organizationId, amount, jobId), ...(activeJobsMax === undefined ? {} : { active_jobs_max: activeJobsMax }) });
  }

  /** Appends the next events of a job. */
  async append(organizationId: string, jobId: string, ...events: DomainEvent[]): Promise<void> {
    const aggregate = { kind: 'job', id: jobId } as const;
    for (const event of events) {
      const id = newId(Date.now());
      const origin = { commandId: id, correlationId: id, causationId: id, actor: 'operator', tenant: organizationId, service: 'api', nowMs: Date.now() } as const;
      await this.store.append(aggregate, afterLast(await this.store.load(aggregate)), event, origin);
    }
  }

  /** Holds credits for a job and takes it as far as `processing`. */
  async processingJob(organizationId: string, amount: number): Promise<string> {
    const jobId = newId(Date.now());
    expect(await this.hold(organizationId, amount, jobId)).to.have.property('ok', true);
    await this.append(organizationId, jobId, ...jobUpToConversion(organizationId, amount));
    return jobId;
  }

  /** Events of one organization's credits. */
  credits(organizationId: string): Promise<readonly StoredEvent[]> {
    return this.store.load({ kind: 'credits', id: organizationId });
  }

  /** Waits until nothing is held for the organization any more, and answers its sums. */
  settled(organizationId: string): Promise<Sums> {
    return waitFor('everything held to be settled', EVENTUALLY_MS, async () => {
      const sums = sumsOf(await this.credits(organizationId));
      return sums.held === 0 ? sums : undefined;
    });
  }
}

/** A hold as the api asks for it. */
export function holdRequestOf(organizationId: string, amount: number, jobId: string): HoldRequest {
  return { organization_id: organizationId, job_id: jobId, amount, command_id: newId(Date.now()), correlation_id: newId(Date.now()), actor: 'operator' };
}

export function createdFor(organizationId: string, data: Partial<EventData<'job.created'>> = {}): DomainEvent {
  return created({ organization_id: organizationId, ...data });
}

/** The events of a job whose conversion has begun. */
export function jobUpToConversion(organizationId: string, credits: number): DomainEvent[] {
  return [createdFor(organizationId, { credits_estimated: credits }), sourceReceived, conversionStarted()];
}

/** `job.finished` of a conversion of so many minutes with weight 1. */
export function finishedAfterMinutes(minutes: number): DomainEvent {
  return finished({ billable_ms: minutes * 60_000, credits_charged: minutes });
}

export type Sums = { readonly granted: number; readonly balance: number; readonly held: number; readonly charged: number };

/**
 * Sums of an organization, added up from the raw events without the code of the domain; fails when any of them is ever
 * below zero, or when a job is held, charged or released twice.
 */
export function sumsOf(events: readonly StoredEvent[]): Sums {
  let [granted, charged] = [0, 0];
  const open = new Map<string, number>();
  const ended = new Set<string>();
  for (const { event } of events) {
    const { type, data } = event as CreditsEvent;
    if (type === 'credits.granted') {
      granted += data.amount;
    } else if (type === 'credits.held') {
      expect(open.has(data.job_id) || ended.has(data.job_id), 'held twice').to.equal(false);
      open.set(data.job_id, data.amount);
    } else {
      expect(open.has(data.job_id), 'ended twice, or never held').to.equal(true);
      if (type === 'credits.charged') charged += data.amount;
      open.delete(data.job_id);
      ended.add(data.job_id);
    }
    expect(granted - charged - sum(open), 'balance').to.be.at.least(0);
  }
  const held = sum(open);
  return { granted, charged, held, balance: granted - charged - held };
}

function sum(open: ReadonlyMap<string, number>): number {
  return [...open.values()].reduce((total, amount) => total + amount, 0);
}
