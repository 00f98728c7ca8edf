import { randomUUID } from 'node:crypto';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { expect } from 'chai';
import { waitFor } from '../../../services/standalone/processes.ts';
import { Defect, TransientError } from '../../../shared/errors/errors.ts';
import { encode } from '../../../shared/events/envelope.ts';
import { createLogger } from '../../../shared/log/log.ts';
import { connectNats } from '../../../shared/nats/connect.ts';
import { createJetStreamStore } from '../../../shared/store/jetstream.ts';
import { eventSubject } from '../../../shared/store/subjects.ts';
import { applyStreams } from '../../../streams/apply.ts';
import { startCuttingProxy, type CuttingProxy } from '../../support/cutting-proxy.ts';
import { appendGrants, granted, newCredits, originOf } from '../../support/events.ts';
import { expectFailure } from '../../support/expect-failure.ts';
import { startNats, type TestNats } from '../../support/servers.ts';
import { describeEventStore } from './suite.ts';

const logger = createLogger('test', 'silent');
/** Gives up soon, where a test waits for it. */
const IMPATIENT = { loadMs: 500, appendMs: 500 };
/** Storing takes milliseconds, on a busy machine a few seconds. */
const STORED_LIMIT_MS = 20_000;

describe('event store on one JetStream server', () => {
  let server: TestNats;
  let nc: NatsConnection;
  before(async () => {
    server = await startNats();
    nc = await connectNats({ url: server.url, name: 'test', logger });
    await applyStreams(nc, { replicas: 1, log: () => undefined });
  });
  after(async () => {
    await nc.close();
    await server.stop();
  });

  describeEventStore(() => createJetStreamStore(nc));

  describe('when the acknowledgement of an append is lost on the way', () => {
    let proxy: CuttingProxy;
    let behind: NatsConnection;
    beforeEach(async () => {
      proxy = await startCuttingProxy(Number(new URL(server.url).port));
      const url = new URL(server.url);
      url.port = String(proxy.port);
      behind = await connectNats({ url: url.href, name: 'test-behind-proxy', logger });
    });
    afterEach(async () => {
      await behind.close();
      await proxy.stop();
    });

    it('recognises the event in the log as its own', async () => {
      const [store, aggregate] = [createJetStreamStore(behind), newCredits()];
      proxy.swallowAnswers();
      const appending = store.append(aggregate, { version: 0 }, granted(7), originOf(aggregate));
      await waitUntilStored(aggregate.id, 1);
      proxy.cut();
      const stored = await appending;
      expect(await createJetStreamStore(nc).load(aggregate)).to.deep.equal([stored]);
    });

    it('gives up after a bounded time, and the same command sent again is not stored twice', async () => {
      const [store, aggregate, commandId] = [createJetStreamStore(behind, IMPATIENT), newCredits(), randomUUID()];
      proxy.swallowAnswers();
      await expectFailure(store.append(aggregate, { version: 0 }, granted(7), originOf(aggregate, commandId)), TransientError);
      proxy.cut();
      const stored = await store.append(aggregate, { version: 0 }, granted(7), originOf(aggregate, commandId));
      expect(await createJetStreamStore(nc).load(aggregate)).to.deep.equal([stored]);
    });
  });

  it('says that the log is away while the server is down, and goes on when it is back', async () => {
    const [store, aggregate] = [createJetStreamStore(nc, IMPATIENT), newCredits()];
    await appendGrants(store, aggregate, 1);
    await server.kill();
    const [load, append] = await Promise.allSettled([store.load(aggregate), store.append(aggregate, { version: 0 }, granted(1), originOf(aggregate))]);
    expect(load).to.have.property('reason').that.is.instanceOf(TransientError);
    expect(append).to.have.property('reason').that.is.instanceOf(TransientError);
    await server.restart();
    expect(await appendGrants(createJetStreamStore(nc), aggregate, 1)).to.have.length(2);
  });

  it('refuses a log whose hash chain is broken', async () => {
    const [store, aggregate] = [createJetStreamStore(nc), newCredits()];
    await appendGrants(store, aggregate, 1);
    await forge(nc, aggregate, 2, encode(aggregate, 2, granted(5), originOf(aggregate), 'a'.repeat(64)));
    expect((await expectFailure(store.load(aggregate), Defect)).message).to.contain('does not follow');
  });

  it('refuses an event that lies on the subject of another version', async () => {
    const [store, aggregate] = [createJetStreamStore(nc), newCredits()];
    await forge(nc, aggregate, 1, encode(aggregate, 2, granted(5), originOf(aggregate), 'a'.repeat(64)));
    expect((await expectFailure(store.load(aggregate), Defect)).message).to.contain('another version');
  });

  it('refuses an event of a type that it does not know', async () => {
    const [store, aggregate] = [createJetStreamStore(nc), newCredits()];
    const text = encode(aggregate, 1, granted(5), originOf(aggregate)).toString().replace('credits.granted', 'credits.minted');
    await forge(nc, aggregate, 1, Buffer.from(text));
    await expectFailure(store.load(aggregate), Defect);
  });

  it('refuses one command id for two aggregates', async () => {
    const [store, one, other, commandId] = [createJetStreamStore(nc), newCredits(), newCredits(), randomUUID()];
    await store.append(one, { version: 0 }, granted(1), originOf(one, commandId));
    await expectFailure(store.append(other, { version: 0 }, granted(1), originOf(other, commandId)), Defect);
  });

  it('leaves no subscription behind after loads', async () => {
    const [store, aggregate] = [createJetStreamStore(nc), newCredits()];
    await appendGrants(store, aggregate, 2);
    const before = await subscriptionCount(server);
    for (let load = 0; load < 50; load += 1) await store.load(aggregate);
    expect(await subscriptionCount(server)).to.be.at.most(before + 1);
  });

  async function waitUntilStored(aggregateId: string, events: number): Promise<void> {
    const manager = await jetstreamManager(nc, { checkAPI: false });
    await waitFor('the append', STORED_LIMIT_MS, async () => {
      const { state } = await manager.streams.info('CREDITS', { subjects_filter: `credits.${aggregateId}.>` });
      return Object.keys(state.subjects ?? {}).length === events ? true : undefined;
    });
  }
});

async function forge(nc: NatsConnection, aggregate: ReturnType<typeof newCredits>, version: number, bytes: Buffer): Promise<void> {
  await jetstream(nc).publish(eventSubject(aggregate, version, 'credits.granted'), bytes);
}

async function subscriptionCount(server: TestNats): Promise<number> {
  const body: unknown = await (await fetch(`${server.monitorUrl}/subsz`)).json();
  if (typeof body === 'object' && body !== null && 'num_subscriptions' in body) return Number(body.num_subscriptions);
  throw new Error('the server tells no number of subscriptions');
}
