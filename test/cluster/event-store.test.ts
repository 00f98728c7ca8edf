import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { expect } from 'chai';
import { ConflictError, TransientError } from '../../shared/errors/errors.ts';
import type { AggregateRef, StoredEvent } from '../../shared/events/envelope.ts';
import { createLogger } from '../../shared/log/log.ts';
import { connectNats } from '../../shared/nats/connect.ts';
import { afterLast, type EventStore } from '../../shared/store/event-store.ts';
import { createJetStreamStore } from '../../shared/store/jetstream.ts';
import { applyStreams } from '../../streams/apply.ts';
import { describeEventStore } from '../contract/event-store/suite.ts';
import { granted, newCredits, originOf } from '../support/events.ts';
import { startNatsCluster, type TestNatsCluster } from '../support/servers.ts';

const REPLICAS = 3;
/** Writers at work while the leader dies, on fewer aggregates than writers, so that they race. */
const WRITERS = 12;
const AGGREGATES = 4;
/** Events that must be acknowledged before the leader is killed, and after it. */
const EVENTS_BEFORE = 300;
const EVENTS_AFTER = 300;
/** Reads right after a write; of reads from any replica some in a hundred are behind. */
const READS = 150;

describe('event store on a JetStream cluster of three', () => {
  let cluster: TestNatsCluster;
  let connections: NatsConnection[];
  let stores: EventStore[];
  before(async () => {
    cluster = await startNatsCluster(REPLICAS);
    connections = await Promise.all(cluster.urls.map((url) => connectNats({ url: [url, ...cluster.urls].join(','), name: 'test', logger: createLogger('test', 'silent') })));
    stores = connections.map((nc) => createJetStreamStore(nc));
    await applyStreams(first(connections), { replicas: REPLICAS, log: () => undefined });
  });
  after(async () => {
    await Promise.all(connections.map((nc) => nc.close()));
    await cluster.stop();
  });

  describeEventStore(() => first(stores));

  it('loads what another process has just appended, whichever server answers', async () => {
    const [writer, ...readers] = stores;
    const [aggregate, events]: [AggregateRef, StoredEvent[]] = [newCredits(), []];
    for (let version = 1; version <= READS; version += 1) {
      events.push(await first([writer]).append(aggregate, afterLast(events), granted(version), originOf(aggregate)));
      for (const reader of readers) expect(await reader.load(aggregate)).to.have.length(version);
    }
  });

  it('lets one of many racers on different servers write each version', async () => {
    const aggregate = newCredits();
    const events: StoredEvent[] = [];
    for (let round = 0; round < 20; round += 1) {
      const racing = Array.from({ length: WRITERS }, (_, index) => first([stores[index % REPLICAS]]).append(aggregate, afterLast(events), granted(index + 1), originOf(aggregate)));
      const outcomes = await Promise.allSettled(racing);
      const won = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
      expect(won).to.have.length(1);
      for (const outcome of outcomes) if (outcome.status === 'rejected') expect(outcome.reason).to.be.instanceOf(ConflictError);
      events.push(...won);
    }
    expect(await first(stores).load(aggregate)).to.deep.equal(events);
  });

  it('loses no acknowledged event and writes no version twice when the leader is killed', async () => {
    const aggregates = Array.from({ length: AGGREGATES }, newCredits);
    const run = new WriterRun();
    const writers = Array.from({ length: WRITERS }, (_, index) => run.write(first([stores[index % REPLICAS]]), first([aggregates[index % AGGREGATES]])));
    await run.reach(EVENTS_BEFORE);
    const leader = await findLeader(first(connections));
    const node = first([cluster.nodes[Number(leader.slice('node-'.length)) - 1]]);
    await node.kill();
    await run.reach(run.acknowledged.length + EVENTS_AFTER);
    run.stop();
    await Promise.all(writers);
    await node.restart();
    for (const aggregate of aggregates) {
      const stored = await first(stores).load(aggregate);
      const acknowledged = run.acknowledged.filter((event) => event.aggregate.id === aggregate.id).toSorted((a, b) => a.version - b.version);
      // An event whose writer gave up may be stored without an acknowledgement; never the other way round.
      const ids = new Set(stored.map((event) => event.envelope.id));
      expect(acknowledged.filter((event) => !ids.has(event.envelope.id))).to.deep.equal([]);
      expect(new Set(acknowledged.map((event) => event.version))).to.have.property('size', acknowledged.length);
      expect(stored.filter((event) => !acknowledged.some((own) => own.hash === event.hash)).length).to.be.at.most(run.gaveUp);
    }
  });
});

/** Writers that append to their aggregates until they are stopped, keeping what was acknowledged to them. */
class WriterRun {
  readonly acknowledged: StoredEvent[] = [];
  gaveUp = 0;
  #stopped = false;
  readonly #waiting: { readonly count: number; readonly wake: () => void }[] = [];

  stop(): void {
    this.#stopped = true;
  }

  /** Waits until so many events are acknowledged; the time limit of the test bounds it. */
  async reach(count: number): Promise<void> {
    await new Promise<void>((wake) => this.#waiting.push({ count, wake }));
  }

  async write(store: EventStore, aggregate: AggregateRef): Promise<void> {
    while (!this.#stopped) {
      try {
        const events = await store.load(aggregate);
        this.acknowledged.push(await store.append(aggregate, afterLast(events), granted(events.length + 1), originOf(aggregate)));
        for (const { wake } of this.#waiting.filter(({ count }) => this.acknowledged.length >= count)) wake();
      } catch (error) {
        if (error instanceof TransientError) this.gaveUp += 1;
        else if (!(error instanceof ConflictError)) throw error;
      }
    }
  }
}

async function findLeader(nc: NatsConnection): Promise<string> {
  const { cluster } = await (await jetstreamManager(nc, { checkAPI: false })).streams.info('CREDITS');
  if (cluster?.leader === undefined) throw new Error('the stream has no leader');
  return cluster.leader;
}

function first<T>([value]: readonly (T | undefined)[]): T {
  if (value === undefined) throw new Error('the test has none of these');
  return value;
}
