import type { NatsConnection } from '@nats-io/transport-node';
import { expect } from 'chai';
import { IdempotencyBucket } from '../../services/api/idempotency/bucket.ts';
import type { Entry } from '../../services/api/idempotency/entry.ts';
import { waitFor } from '../../services/standalone/processes.ts';
import { deriveId } from '../../shared/ids/ids.ts';
import { createLogger } from '../../shared/log/log.ts';
import { connectNats } from '../../shared/nats/connect.ts';
import { applyStreams } from '../../streams/apply.ts';
import { startNatsCluster, type TestNatsCluster } from '../support/servers.ts';

const TTL_MS = 2_000;
const RIVALS = 12;
const ROUNDS = 30;
const EVENTUALLY_MS = 30_000;

const entryOf = (text: string): Entry => ({ state: 'running', fingerprint: 'a'.repeat(64), job_id: deriveId(text), lease_until: '2026-01-01T00:00:00.000Z' });

describe('the bucket of requests with an Idempotency-Key on three servers', function () {
  this.timeout(120_000);
  let cluster: TestNatsCluster;
  let connections: readonly NatsConnection[];

  before(async () => {
    cluster = await startNatsCluster(3);
    connections = await Promise.all(cluster.urls.map((url) => connectNats({ url, name: 'test', logger: createLogger('test', 'silent') })));
    const [first] = connections;
    if (!first) throw new Error('there is no connection');
    await applyStreams(first, { replicas: 3, log: () => undefined });
  });
  after(async () => {
    await Promise.all(connections.map((nc) => nc.close()));
    await cluster.stop();
  });

  it('takes one of many who write at once, through whichever server, also after a place was freed or forgotten (D82)', async () => {
    const buckets = await Promise.all(connections.map((nc) => IdempotencyBucket.open(nc, TTL_MS)));
    const bucketOf = (index: number): IdempotencyBucket => buckets[index % buckets.length] as IdempotencyBucket;
    for (let round = 0; round < ROUNDS; round += 1) {
      const place = `${deriveId('key')}.${round}`;
      for (const how of ['freed', 'forgotten'] as const) {
        const written = await Promise.all(Array.from({ length: RIVALS }, (_, index) => bucketOf(index).write(place, 0, entryOf(`${how} ${round} ${index}`))));
        expect(written.filter((revision) => revision !== undefined)).to.have.length(1);
        const winner = written.findIndex((revision) => revision !== undefined);
        expect(await bucketOf(winner + 1).read(place)).to.deep.equal({ revision: written[winner], entry: entryOf(`${how} ${round} ${winner}`) });
        if (how === 'freed') await bucketOf(winner + 1).remove(written[winner] ?? 0);
      }
    }
    await waitFor('the server forgetting all', EVENTUALLY_MS, async () => ((await bucketOf(0).read(`${deriveId('key')}.${ROUNDS - 1}`)).revision === 0 ? true : undefined));
    expect(await bucketOf(0).write(`${deriveId('key')}.0`, 0, entryOf('anew'))).to.be.a('number');
  });
});
