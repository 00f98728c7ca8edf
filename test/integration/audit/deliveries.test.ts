import { randomUUID } from 'node:crypto';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import { expect } from 'chai';
import { Findings, type Finding } from '../../../services/cli/audit/findings.ts';
import { readTimeline } from '../../../services/cli/audit/timeline.ts';
import { verifyLog } from '../../../services/cli/audit/verify.ts';
import { waitFor } from '../../../services/standalone/processes.ts';
import { systemClock } from '../../../shared/clock/clock.ts';
import { encode, type AggregateRef, type Origin, type StoredEvent } from '../../../shared/events/envelope.ts';
import type { DomainEvent, EventData } from '../../../shared/events/registry.ts';
import { newId } from '../../../shared/ids/ids.ts';
import { afterLast } from '../../../shared/store/event-store.ts';
import { eventSubject } from '../../../shared/store/subjects.ts';
import { deliveryIdOf, replayDeliveryId, webhookEventId } from '../../../shared/webhooks/ids.ts';
import { applyStreams } from '../../../streams/apply.ts';
import { connectNats } from '../../../shared/nats/connect.ts';
import { createJetStreamStore } from '../../../shared/store/jetstream.ts';
import { attemptFailed, attemptStarted, delivered, queued, queuedTest, stopped } from '../../support/delivery-events.ts';
import { cancelled, created } from '../../support/job-events.ts';
import { silent } from '../../support/read-models.ts';
import { startNats, type TestNats } from '../../support/servers.ts';

const MINUTE_MS = 60_000;
const AGED_MS_MAX = 20_000;

describe('the audit of webhook deliveries', function () {
  this.timeout(60_000);
  let nats: TestNats;
  let nc: Awaited<ReturnType<typeof connectNats>>;
  let store: ReturnType<typeof createJetStreamStore>;
  let organizationId: string;
  let webhookId: string;
  /** An hour ago everything was ready. */
  const startMs = Date.now() - 60 * MINUTE_MS;
  beforeEach(async () => {
    nats = await startNats();
    nc = await connectNats({ url: nats.url, name: 'test', logger: silent });
    await applyStreams(nc, { replicas: 1, log: () => undefined });
    store = createJetStreamStore(nc);
    [organizationId, webhookId] = [newId(Date.now()), newId(Date.now())];
    await account({ type: 'account.created', data: { plan: 'active', name: 'v1.a.b' } });
    await account(registered(webhookId));
  });
  afterEach(async () => {
    await nc.close();
    await nats.stop();
  });

  const origin = (atMs: number, causationId: string = randomUUID()): Origin => ({ commandId: randomUUID(), correlationId: causationId, causationId, actor: 'service:notifier', tenant: organizationId, service: 'notifier', nowMs: atMs });

  async function append(aggregate: AggregateRef, event: DomainEvent, from: Origin): Promise<StoredEvent> {
    return store.append(aggregate, afterLast(await store.load(aggregate)), event, from);
  }
  const account = (event: DomainEvent, from: Origin = origin(startMs)): Promise<StoredEvent> => append({ kind: 'account', id: organizationId }, event, from);
  /** A test job, so that nothing of it is charged; it is cancelled as it was created. */
  async function addJob(atMs: number = startMs + MINUTE_MS): Promise<readonly [createdEvent: StoredEvent, cancelledEvent: StoredEvent]> {
    const job: AggregateRef = { kind: 'job', id: newId(Date.now()) };
    const data = { organization_id: organizationId, key_mode: 'test' as const, created_at: new Date(atMs).toISOString(), upload_deadline_at: new Date(atMs + 120 * MINUTE_MS).toISOString() };
    return [await append(job, created(data), origin(atMs)), await append(job, cancelled, origin(atMs))];
  }
  const queuedFor = (cause: StoredEvent, data: Partial<EventData<'delivery.queued'>> = {}): ReturnType<typeof queued> => {
    const event = cause.event.type as 'job.created' | 'job.cancelled';
    const source = { kind: 'job', job_id: cause.aggregate.id, position: cause.position, version: cause.version } as const;
    return queued({ webhook_id: webhookId, event_id: webhookEventId(cause.aggregate.id, event, cause.position), event, key_mode: 'test', source, ...data });
  };
  /** Queues a delivery and makes its attempts; answers what was stored. */
  async function deliver(first: ReturnType<typeof queued>, attempts: readonly DomainEvent[] = [attemptStarted(), delivered()], id: string = idOf(first)): Promise<readonly StoredEvent[]> {
    const stored: StoredEvent[] = [];
    for (const event of [first, ...attempts]) stored.push(await append({ kind: 'delivery', id }, event, origin(startMs + 2 * MINUTE_MS)));
    return stored;
  }
  const deliverBoth = async (events: readonly StoredEvent[]): Promise<void> => {
    for (const event of events) await deliver(queuedFor(event));
  };
  async function audit(): Promise<readonly Finding[]> {
    const findings = new Findings();
    await verifyLog(nc, findings, systemClock, () => undefined);
    return findings.shown;
  }
  const problems = async (): Promise<readonly string[]> => (await audit()).map(({ check, subject, problem }) => `${check} ${subject}: ${problem}`);

  it('finds nothing where every event was queued, whatever became of it (§6)', async () => {
    const [first, second] = [await addJob(), await addJob()];
    await deliver(queuedFor(first[0]));
    await deliver(queuedFor(first[1]), [attemptStarted(), attemptFailed(1, startMs + 4 * MINUTE_MS), attemptStarted(2, startMs + 4 * MINUTE_MS), delivered(2)]);
    await deliver(queuedFor(second[0]), [stopped]);
    const failed = queuedFor(second[1]);
    await deliver(failed, [1, 2, 3, 4, 5].flatMap((attempt) => [attemptStarted(attempt, startMs + 4 * MINUTE_MS), attemptFailed(attempt, attempt === 5 ? undefined : startMs + 4 * MINUTE_MS)]));
    const commandId = randomUUID();
    await deliver(queuedFor(second[1], { replay_of: idOf(failed) }), undefined, replayDeliveryId(failed.data.event_id, webhookId, commandId));
    await deliver({ ...queuedTest({ webhook_id: webhookId, key_mode: 'test' }) }, undefined, newId(Date.now()));
    expect(await problems()).to.deep.equal([]);
  });

  it('names every event that was not queued for an endpoint that was subscribed to it, once it is late (D69)', async () => {
    const [late, recent] = [await addJob(), await addJob(Date.now() - MINUTE_MS)];
    await deliver(queuedFor(late[0]));
    expect(await problems()).to.deep.equal([`delivery job.${late[1].aggregate.id}: its job.cancelled (position ${late[1].position}) was not queued for the endpoint ${webhookId}`]);
    // A notifier says that it has seen all of them.
    const consumer = await jetstream(nc).consumers.get('JOBS', 'notifier-fan-out');
    for await (const message of await consumer.fetch({ max_messages: 4, expires: 2_000 })) await message.ackAck();
    expect((await audit()).map(({ subject }) => subject)).to.deep.equal([late[1], ...recent].map(({ aggregate }) => `job.${aggregate.id}`));
  });

  it('asks for no delivery of what an endpoint was not subscribed to: before it was there, while it was disabled, after it was deleted (D72)', async () => {
    const other = newId(Date.now());
    const before = await addJob();
    await deliverBoth(before);
    const { version } = await account(registered(other, before[1].position));
    const test = queuedTest({ webhook_id: other, key_mode: 'test', activation: version });
    const cause = (await deliver(test, [attemptStarted(), attemptFailed(1, undefined, { status_code: 410 })], randomUUID())).at(-1);
    await account({ type: 'account.webhook_disabled', data: { webhook_id: other, reason: 'gone_410' } }, origin(startMs + 3 * MINUTE_MS, cause?.envelope.id));
    const meanwhile = await addJob();
    await deliverBoth(meanwhile);
    await account({ type: 'account.webhook_enabled', data: { webhook_id: other, jobs_position: meanwhile[1].position } });
    expect(await problems()).to.deep.equal([]);
    await account({ type: 'account.webhook_deleted', data: { webhook_id: other } });
    const after = await addJob();
    await deliverBoth(after);
    expect(await problems()).to.deep.equal([]);
  });

  it('names deliveries that nobody can have queued (D53, D69)', async () => {
    const [first, second] = await addJob();
    await deliverBoth([first, second]);
    const forged: Record<string, readonly [ReturnType<typeof queued>, string?]> = {
      'it is for an endpoint that never was': [queuedFor(first, { webhook_id: randomUUID() })],
      'it is for an endpoint of another organization or mode': [queuedFor(first, { key_mode: 'live' }), randomUUID()],
      'its endpoint was not enabled by version 1 of its account': [queuedFor(first, { activation: 1 }), randomUUID()],
      'its endpoint is not subscribed to job.finished': [queuedFor(first, { event: 'job.finished' }), randomUUID()],
      'its event id does not follow from the event': [queuedFor(first, { event_id: randomUUID() }), randomUUID()],
      'its id does not follow from event and endpoint': [queuedFor(first), randomUUID()],
    };
    const elsewhere = { kind: 'job', job_id: first.aggregate.id, position: second.position, version: 1 } as const;
    const wrongPlace = queuedFor(first, { source: elsewhere, event_id: webhookEventId(first.aggregate.id, 'job.created', second.position) });
    forged['it tells of another event than the one that lies there'] = [wrongPlace];
    const expected: string[] = [];
    for (const [problem, [event, id = idOf(event)]] of Object.entries(forged)) {
      const [stored] = await deliver(event, [], id);
      expected.push(`delivery delivery.${id}: ${problem} (position ${stored?.position ?? 0})`);
    }
    expect(await problems()).to.deep.equal(expected);
  });

  it('names transitions that the rules do not allow, and links that do not hold', async () => {
    const [first, second] = await addJob();
    const [one, two] = [queuedFor(first), queuedFor(second)];
    const stored = await deliver(one);
    await deliver(two, [attemptStarted(), delivered(), attemptStarted(2)]);
    const aggregate: AggregateRef = { kind: 'delivery', id: idOf(one) };
    const again = attemptStarted(2);
    await jetstream(nc).publish(eventSubject(aggregate, 4, again.type), encode(aggregate, 4, again, origin(startMs), '0'.repeat(64)));
    const end = stored.length + 4;
    expect(await problems()).to.have.members([
      `transition delivery.${idOf(two)}: delivery.attempt_started is not allowed here: The delivery is delivered. (position ${end})`,
      `chain delivery.${idOf(one)}: prevhash is not the hash of the event before at position ${end + 1}`,
      `transition delivery.${idOf(one)}: delivery.attempt_started is not allowed here: The delivery is delivered. (position ${end + 1})`,
    ]);
  });

  it('names an attempt beyond the fifth (§6 delivery 2)', async () => {
    const [first, second] = await addJob();
    await deliver(queuedFor(second));
    const event = queuedFor(first);
    const five = [1, 2, 3, 4].flatMap((attempt) => [attemptStarted(attempt, startMs + 4 * MINUTE_MS), attemptFailed(attempt, startMs + 4 * MINUTE_MS)]);
    await deliver(event, [...five, attemptStarted(5, startMs + 4 * MINUTE_MS), attemptFailed(5, startMs + 5 * MINUTE_MS)]);
    expect(await problems()).to.deep.equal([`transition delivery.${idOf(event)}: delivery.attempted says something else than the rules (position 14)`]);
  });

  it('names an endpoint that was disabled without cause (§6 delivery 3, D58, D71)', async () => {
    const [first, second] = await addJob();
    const disabled = (reason: EventData<'account.webhook_disabled'>['reason'], causeId?: string) =>
      account({ type: 'account.webhook_disabled', data: { webhook_id: webhookId, reason } }, origin(startMs + 3 * MINUTE_MS, causeId));
    const enabled = () => account({ type: 'account.webhook_enabled', data: { webhook_id: webhookId, jobs_position: second.position } });
    const gone = (await deliver(queuedFor(first), [attemptStarted(), attemptFailed(1, undefined, { status_code: 410 })])).at(-1);
    const success = (await deliver(queuedFor(second))).at(-1);
    const test = (await deliver(queuedTest({ webhook_id: webhookId, key_mode: 'test' }), [attemptStarted(), attemptFailed()], randomUUID())).at(-1);
    await disabled('gone_410', gone?.envelope.id);
    expect(await problems()).to.deep.equal([]);
    for (const [reason, cause] of [['gone_410', success], ['gone_410', test], ['failing_5_days', test], ['failing_5_days', undefined]] as const) {
      await enabled();
      await disabled(reason, cause?.envelope.id);
    }
    const problem = (reason: string): string => `delivery webhook.${webhookId}: it was disabled as ${reason}, but no attempt caused that`;
    expect(await problems()).to.deep.equal(['gone_410', 'gone_410', 'failing_5_days', 'failing_5_days'].map(problem));
  });

  it('judges nothing by what has aged out (§6 delivery 4)', async () => {
    const [first, second] = await addJob(Date.now() - 31 * 24 * 60 * MINUTE_MS);
    await deliver(queuedFor(first));
    const open = queuedFor(second);
    await deliver(open, [attemptStarted()]);
    await account({ type: 'account.webhook_disabled', data: { webhook_id: webhookId, reason: 'gone_410' } });
    await account({ type: 'account.webhook_enabled', data: { webhook_id: webhookId, jobs_position: 0 } });
    const manager = await jetstreamManager(nc);
    const { duplicate_window, max_age } = (await manager.streams.info('DELIVERIES')).config;
    await manager.streams.update('DELIVERIES', { max_age: nanos(200), duplicate_window: nanos(200) });
    await waitFor('the stream to forget', AGED_MS_MAX, async () => ((await manager.streams.info('DELIVERIES')).state.messages === 0 ? true : undefined));
    await manager.streams.update('DELIVERIES', { max_age, duplicate_window });
    expect(await problems()).to.deep.equal([]);
    const rest = delivered();
    const aggregate: AggregateRef = { kind: 'delivery', id: idOf(open) };
    await jetstream(nc).publish(eventSubject(aggregate, 3, rest.type), encode(aggregate, 3, rest, origin(Date.now()), 'a'.repeat(64)));
    expect(await problems()).to.deep.equal([]);
  });

  it('tells in the life of a job what became of its deliveries', async () => {
    const [first, second] = await addJob();
    const other = await addJob();
    await deliver(queuedFor(first));
    await deliver(queuedFor(second), [stopped]);
    await deliver(queuedFor(other[0]));
    const entries = await readTimeline(nc, store, first.aggregate.id);
    expect(entries.map(({ type }) => type)).to.deep.equal(['job.created', 'job.cancelled', 'delivery.queued', 'delivery.attempt_started', 'delivery.attempted', 'delivery.queued', 'delivery.stopped']);
    expect(entries[4]?.data).to.include({ delivery_id: idOf(queuedFor(first)), attempt: 1, outcome: 'delivered', status_code: 204 });
    expect(JSON.stringify(entries)).to.not.include('v1.');
  });
});

function registered(webhook_id: string, jobs_position = 0): DomainEvent {
  return { type: 'account.webhook_created', data: { webhook_id, key_mode: 'test', events: ['job.created', 'job.cancelled'], details: 'v1.a.b', secret: 'v1.a.b', jobs_position } };
}

function idOf(event: ReturnType<typeof queued>): string {
  return deliveryIdOf(event.data.event_id, event.data.webhook_id);
}
