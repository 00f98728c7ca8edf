import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { nanos, type NatsConnection } from '@nats-io/transport-node';
import { expect } from 'chai';
import { waitFor } from '../../../services/standalone/processes.ts';
import { systemClock } from '../../../shared/clock/clock.ts';
import { streamExtent } from '../../../shared/consume/read-stream.ts';
import { DeliveriesCopy } from '../../../shared/deliveries/deliveries-copy.ts';
import { deliveryDecider } from '../../../shared/domain/delivery.ts';
import { DomainError } from '../../../shared/errors/errors.ts';
import type { AggregateRef, Origin, StoredEvent } from '../../../shared/events/envelope.ts';
import type { DeliveryEvent } from '../../../shared/events/registry.ts';
import { deriveId, newId } from '../../../shared/ids/ids.ts';
import { createLogger } from '../../../shared/log/log.ts';
import { connectNats } from '../../../shared/nats/connect.ts';
import { afterLast, type EventStore } from '../../../shared/store/event-store.ts';
import { handle } from '../../../shared/store/handle.ts';
import { createJetStreamStore } from '../../../shared/store/jetstream.ts';
import { rebuildTimers } from '../../../shared/timers/rebuild-timers.ts';
import { applyStreams } from '../../../streams/apply.ts';
import { CONSUMERS, STREAMS } from '../../../streams/consumers.ts';
import { DECLARED } from '../../../streams/plan.ts';
import { originOf } from '../../support/events.ts';
import { expectFailure } from '../../support/expect-failure.ts';
import { API_KEY_ID } from '../../support/job-events.ts';
import { startNats, type TestNats } from '../../support/servers.ts';
import { at, attemptDelivered, attemptFailed, attemptInterrupted, attemptStarted, deliveryQueued, deliveryStopped } from '../../support/webhook-events.ts';

const logger = createLogger('test', 'silent');
const LIMIT_MS = 15_000;
/** How long the stream keeps events in the tests of what has aged out, in ms. */
const SHORT_AGE_MS = 2_000;
const TEST = { kind: 'test', requested_at: '2026-01-02T00:00:00.000Z', api_key_id: API_KEY_ID } as const;

const newDelivery = (): AggregateRef => ({ kind: 'delivery', id: newId(Date.now()) });

describe('the log of deliveries', function () {
  this.timeout(60_000);
  let nats: TestNats;
  let nc: NatsConnection;
  let store: EventStore;
  let folder: string;
  let copy: DeliveriesCopy;

  beforeEach(async () => {
    nats = await startNats();
    nc = await connectNats({ url: nats.url, name: 'test', logger });
    store = createJetStreamStore(nc);
    folder = await mkdtemp(join(tmpdir(), 'deliveries-'));
  });
  afterEach(async () => {
    await copy.stop();
    await nc.close();
    await nats.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function open(maxAgeMs?: number): Promise<void> {
    const streams = STREAMS.map((stream) => (stream.name === 'DELIVERIES' && maxAgeMs !== undefined ? { ...stream, config: { ...stream.config, max_age: nanos(maxAgeMs), duplicate_window: nanos(maxAgeMs) } } : stream));
    await applyStreams(nc, { replicas: 1, log: () => undefined, declared: { streams, consumers: CONSUMERS } });
    copy = await DeliveriesCopy.open(nc, logger, folder);
  }

  /** Appends events to a delivery, the first of them `ms` after the start of the tests, each a second later. */
  async function append(delivery: AggregateRef, ms: number, ...events: readonly DeliveryEvent[]): Promise<StoredEvent> {
    const stored = [...(await store.load(delivery))];
    for (const [index, event] of events.entries()) {
      const origin: Origin = { ...originOf(delivery), nowMs: Date.parse(at(ms + index * 1_000)) };
      stored.push(await store.append(delivery, afterLast(stored), event, origin));
    }
    const last = stored.at(-1);
    if (!last) throw new Error('nothing was appended');
    return last;
  }

  async function recordOf(webhookId: string, activation = 2): Promise<unknown> {
    await copy.catchUp(LIMIT_MS);
    return copy.tables.findRecord(webhookId, activation);
  }

  async function oldestDue(ms: number): Promise<string | undefined> {
    await copy.catchUp(LIMIT_MS);
    return copy.tables.findOldestDue(at(ms));
  }

  describe('copied for the notifier', () => {
    it('tells of each endpoint its oldest failure since its last success (D71)', async () => {
      await open();
      const webhook_id = deriveId('endpoint', 1);
      const queued = deliveryQueued({ webhook_id });
      expect(await recordOf(webhook_id)).to.deep.equal({});
      await append(newDelivery(), 0, queued, attemptStarted(1, 0), attemptFailed(1, 60_000));
      expect(await recordOf(webhook_id)).to.deep.equal({ failingSince: at(2_000) });
      await append(newDelivery(), 100_000, queued, attemptStarted(1, 0), attemptFailed(1, 60_000), attemptStarted(2, 0), attemptFailed(2));
      expect(await recordOf(webhook_id)).to.deep.equal({ failingSince: at(2_000) });
      await append(newDelivery(), 200_000, queued, attemptStarted(1, 0), attemptDelivered(1));
      expect(await recordOf(webhook_id)).to.deep.equal({});
      await append(newDelivery(), 300_000, queued, attemptStarted(1, 0), attemptFailed(1));
      expect(await recordOf(webhook_id)).to.deep.equal({ failingSince: at(302_000) });
      expect(await recordOf(deriveId('endpoint', 2))).to.deep.equal({});
    });

    it('counts the success of a test and not its failure (D58), and no attempt that was cut off', async () => {
      await open();
      const webhook_id = deriveId('endpoint', 1);
      const test = deliveryQueued({ webhook_id, source: TEST });
      await append(newDelivery(), 0, test, attemptStarted(1, 0), attemptFailed(1));
      await append(newDelivery(), 0, deliveryQueued({ webhook_id }), attemptStarted(1, 0), attemptInterrupted(1, 5, 10));
      expect(await recordOf(webhook_id)).to.deep.equal({});
      await append(newDelivery(), 0, deliveryQueued({ webhook_id }), attemptStarted(1, 0), attemptFailed(1));
      await append(newDelivery(), 9_000, test, attemptStarted(1, 0), attemptDelivered(1));
      expect(await recordOf(webhook_id)).to.deep.equal({});
    });

    it('begins anew when an endpoint is enabled again', async () => {
      await open();
      const webhook_id = deriveId('endpoint', 1);
      const failing = (activation: number, ms: number): Promise<StoredEvent> => append(newDelivery(), ms, deliveryQueued({ webhook_id, activation }), attemptStarted(1, 0), attemptFailed(1));
      await failing(2, 0);
      expect(await recordOf(webhook_id, 4)).to.deep.equal({});
      await failing(4, 50_000);
      await failing(2, 60_000);
      expect(await recordOf(webhook_id, 4)).to.deep.equal({ failingSince: at(52_000) });
    });

    it('tells since when the oldest delivery waits that is due', async () => {
      await open();
      expect(await oldestDue(99_999)).to.equal(undefined);
      const first = newDelivery();
      await append(first, 1_000, deliveryQueued());
      await append(newDelivery(), 2_000, deliveryQueued());
      expect(await oldestDue(5_000)).to.equal(at(1_000));
      await append(first, 3_000, attemptStarted(1, 3_000), attemptFailed(1, 60_000));
      expect(await oldestDue(5_000)).to.equal(at(2_000));
      expect(await oldestDue(500)).to.equal(undefined);
      await append(newDelivery(), 0, deliveryQueued(), deliveryStopped);
      expect(await oldestDue(500)).to.equal(undefined);
    });

    it('goes on where it was, and halts before an event that does not follow', async () => {
      await open();
      const delivery = newDelivery();
      await append(delivery, 0, deliveryQueued(), attemptStarted(1, 0));
      await copy.catchUp(LIMIT_MS);
      await copy.stop();
      copy = await DeliveriesCopy.open(nc, logger, folder);
      await append(delivery, 0, attemptFailed(1));
      expect(await recordOf(deliveryQueued().data.webhook_id)).to.deep.equal({ failingSince: at(0) });
      const other = newDelivery();
      await append(other, 0, deliveryQueued());
      await store.append(other, { version: 1, hash: '0'.repeat(64) }, attemptStarted(1, 0), originOf(other));
      await waitFor('the copy to halt', LIMIT_MS, async () => copy.reader.halted());
    });
  });

  it('gets the timer of every delivery that has not ended anew (D89)', async () => {
    await open();
    const nowMs = Date.now();
    const dueMs = nowMs + 3_600_000;
    const retrying = newDelivery();
    const failure = attemptFailed(1);
    await append(retrying, 0, deliveryQueued(), attemptStarted(1, 0), { ...failure, data: { ...failure.data, next_attempt_at: new Date(dueMs).toISOString() } });
    await append(newDelivery(), 0, deliveryQueued(), attemptStarted(1, 0), attemptDelivered(1));
    await append(newDelivery(), 0, deliveryQueued(), deliveryStopped);
    const waiting = newDelivery();
    await append(waiting, 0, deliveryQueued());
    expect(await rebuildTimers(nc, nowMs)).to.equal(2);
    const manager = await jetstreamManager(nc, { checkAPI: false });
    const scheduled = await manager.streams.getMessage('TIMERS', { last_by_subj: `timer.scheduled.webhook_attempt.${retrying.id}` });
    expect(scheduled?.header.get('Nats-Schedule')).to.contain(new Date(dueMs).toISOString().slice(0, 19));
    await waitFor('the timer that is due', LIMIT_MS, async () => (await manager.streams.getMessage('TIMERS', { last_by_subj: `timer.due.webhook_attempt.${waiting.id}` })) ?? undefined);
  });

  describe('that forgets by age', () => {
    it('has nothing left of a delivery whose beginning is gone', async () => {
      await open(SHORT_AGE_MS);
      const delivery = newDelivery();
      await append(delivery, 0, deliveryQueued());
      const other = newDelivery();
      await append(other, 0, deliveryQueued());
      await waitFor('the middle of their time', LIMIT_MS, async () => (Date.now() - startedMs(delivery) > SHORT_AGE_MS / 2 ? true : undefined));
      await append(delivery, 0, attemptStarted(1, 0));
      await waitFor('the beginning to be forgotten', LIMIT_MS, async () => ((await streamExtent(nc, 'DELIVERIES')).first > 2 ? true : undefined));
      expect(await store.load(delivery)).to.deep.equal([]);
      const command = { type: 'record_attempt', attempt: 1, result: { outcome: 'delivered', duration_ms: 1 }, now: at(0), delays_ms: [] } as const;
      expect((await expectFailure(handle(store, deliveryDecider, delivery, command, originOf(delivery)), DomainError)).code).to.equal('not_found');
    });

    it('is followed by its copy across what was forgotten meanwhile, which keeps what it knew', async () => {
      await open(SHORT_AGE_MS);
      const webhook_id = deriveId('endpoint', 1);
      await append(newDelivery(), 0, deliveryQueued({ webhook_id }), attemptStarted(1, 0), attemptFailed(1));
      await copy.catchUp(LIMIT_MS);
      await copy.stop();
      await append(newDelivery(), 0, deliveryQueued({ webhook_id }), attemptStarted(1, 0));
      await waitFor('everything to be forgotten', LIMIT_MS, async () => ((await streamExtent(nc, 'DELIVERIES')).messages === 0 ? true : undefined));
      copy = await DeliveriesCopy.open(nc, logger, folder);
      expect(await recordOf(webhook_id)).to.deep.equal({ failingSince: at(2_000) });
      await append(newDelivery(), 90_000, deliveryQueued({ webhook_id }), attemptStarted(1, 0), attemptDelivered(1));
      expect(await recordOf(webhook_id)).to.deep.equal({});
      expect(copy.reader.halted()).to.equal(undefined);
    });

    it('sets no timers when it has forgotten everything', async () => {
      await open(SHORT_AGE_MS);
      await append(newDelivery(), 0, deliveryQueued());
      await waitFor('everything to be forgotten', LIMIT_MS, async () => ((await streamExtent(nc, 'DELIVERIES')).messages === 0 ? true : undefined));
      expect(await rebuildTimers(nc, systemClock.nowMs())).to.equal(0);
    });
  });

  it('is added to an installation that has none, with its consumers, and nothing else changes', async () => {
    const older = { streams: STREAMS.filter(({ name }) => name !== 'DELIVERIES'), consumers: CONSUMERS.filter(({ owner }) => owner !== 'notifier') };
    await applyStreams(nc, { replicas: 1, log: () => undefined, declared: older });
    const differences = await applyStreams(nc, { replicas: 1, log: () => undefined });
    expect(differences.map(({ action, name }) => `${action} ${name}`)).to.have.members([
      'create DELIVERIES', 'create DELIVERIES/notifier-first-attempt', 'create JOBS/notifier-fan-out', 'create TIMERS/notifier-due-attempt', 'create ACCOUNTS/notifier-forget',
    ]);
    expect(await applyStreams(nc, { replicas: 1, log: () => undefined })).to.deep.equal([]);
    copy = await DeliveriesCopy.open(nc, logger);
  });
});

describe('the stream of deliveries', () => {
  it('keeps events for 30 days and lets nobody remove one before (§6 delivery 4)', () => {
    expect(DECLARED.streams.find(({ name }) => name === 'DELIVERIES')?.config).to.include({ max_age: nanos(30 * 24 * 3_600_000), deny_delete: true, deny_purge: true, discard: 'new' });
  });
});

/** An id of ours tells when it was made. */
function startedMs({ id }: AggregateRef): number {
  return Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
}
