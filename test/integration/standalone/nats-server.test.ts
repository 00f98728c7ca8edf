import { expect } from 'chai';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { startNats, startNatsCluster } from '../../support/servers.ts';

/** Three servers on a busy machine take their time to agree. */
const ELECTION_MS_MAX = 30_000;

async function connectTo(url: string): Promise<NatsConnection> {
  const { host, username, password } = new URL(url);
  return connect({ servers: host, user: username, pass: password });
}

describe('the embedded nats-server', () => {
  it('keeps what it acknowledged over kill -9 and comes back at the same port', async () => {
    const nats = await startNats();
    try {
      const client = await connectTo(nats.url);
      const manager = await jetstreamManager(client);
      await manager.streams.add({ name: 'THINGS', subjects: ['thing.>'] });
      await jetstream(client).publish('thing.one', 'first');
      await nats.kill();
      await nats.restart();
      await client.close();
      const again = await connectTo(nats.url);
      const info = await (await jetstreamManager(again)).streams.info('THINGS');
      expect(info.state.messages).to.equal(1);
      await again.close();
    } finally {
      await nats.stop();
    }
  });

  it('syncs every write to disk and takes a payload of 2 MB', async () => {
    const nats = await startNats();
    try {
      const response = await fetch(`${nats.monitorUrl}/varz`);
      const body: unknown = await response.json();
      expect(body).to.have.nested.property('jetstream.config.sync_always', true);
      const client = await connectTo(nats.url);
      expect(client.info?.max_payload).to.be.greaterThan(2_000_000);
      await client.close();
    } finally {
      await nats.stop();
    }
  });

  it('lets nobody in without the password', async () => {
    const nats = await startNats();
    try {
      const refused = await connect({ servers: new URL(nats.url).host }).then(() => false, () => true);
      expect(refused).to.equal(true);
    } finally {
      await nats.stop();
    }
  });

  it('forms a cluster of three that keeps a stream in three copies', async () => {
    const cluster = await startNatsCluster(3);
    try {
      const client = await connectTo(cluster.urls[0] ?? '');
      const manager = await jetstreamManager(client, { timeout: ELECTION_MS_MAX });
      const info = await manager.streams.add({ name: 'THINGS', subjects: ['thing.>'], num_replicas: 3 });
      expect(info.config.num_replicas).to.equal(3);
      await client.close();
    } finally {
      await cluster.stop();
    }
  });
});
