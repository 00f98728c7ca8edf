import { jetstreamManager } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { expect } from 'chai';
import { IdempotencyBucket } from '../../../services/api/idempotency/bucket.ts';
import type { Entry } from '../../../services/api/idempotency/entry.ts';
import { waitFor } from '../../../services/standalone/processes.ts';
import { Defect, TransientError } from '../../../shared/errors/errors.ts';
import { deriveId } from '../../../shared/ids/ids.ts';
import { createLogger } from '../../../shared/log/log.ts';
import { connectNats } from '../../../shared/nats/connect.ts';
import { applyStreams } from '../../../streams/apply.ts';
import { expectFailure } from '../../support/expect-failure.ts';
import { startNats, type TestNats } from '../../support/servers.ts';

const TTL_MS = 2_000;
/** The server looks for what is over now and then. */
const FORGOTTEN_LIMIT_MS = 30_000;
const BACK_LIMIT_MS = 20_000;

const entryOf = (text: string): Entry => ({ state: 'running', fingerprint: 'a'.repeat(64), job_id: deriveId(text), lease_until: '2026-01-01T00:00:00.000Z' });
const [ONE, TWO, THREE] = [entryOf('one'), entryOf('two'), entryOf('three')];

describe('the bucket of requests with an Idempotency-Key', function () {
  this.timeout(60_000);
  let nats: TestNats;
  let nc: NatsConnection;
  let bucket: IdempotencyBucket;
  let places = 0;

  before(async () => {
    nats = await startNats();
    nc = await connectNats({ url: nats.url, name: 'test', logger: createLogger('test', 'silent') });
    await applyStreams(nc, { replicas: 1, log: () => undefined });
    bucket = await IdempotencyBucket.open(nc, 3_600_000);
  });
  after(async () => {
    await nc.close();
    await nats.stop();
  });

  /** A place that no other test uses. */
  function newPlace(): string {
    places += 1;
    return `${deriveId('key')}.${places}`;
  }

  async function write(place: string, revision: number, entry: Entry): Promise<number> {
    const written = await bucket.write(place, revision, entry);
    if (written === undefined) throw new Error('somebody else wrote first');
    return written;
  }

  it('takes one of many who write at once', async () => {
    const place = newPlace();
    const entries = Array.from({ length: 20 }, (_, index) => entryOf(`rival ${index}`));
    const written = await Promise.all(entries.map((entry) => bucket.write(place, 0, entry)));
    const winner = written.findIndex((revision) => revision !== undefined);
    expect(written.filter((revision) => revision !== undefined)).to.have.length(1);
    expect(await bucket.read(place)).to.deep.equal({ revision: written[winner], entry: entries[winner] });
  });

  it('takes a change only after the revision that it is meant for', async () => {
    const place = newPlace();
    const first = await write(place, 0, ONE);
    const second = await write(place, first, TWO);
    expect(await bucket.write(place, first, THREE)).to.equal(undefined);
    expect(await bucket.read(place)).to.deep.equal({ revision: second, entry: TWO });
  });

  it('knows what it wrote itself when the answer to that was lost', async () => {
    const place = newPlace();
    const first = await write(place, 0, ONE);
    expect(await bucket.write(place, 0, ONE)).to.equal(first);
  });

  it('frees a place at once, without a trace, and only for who wrote there last', async () => {
    const place = newPlace();
    const first = await write(place, 0, ONE);
    const second = await write(place, first, TWO);
    await bucket.remove(first);
    expect(await bucket.read(place)).to.deep.equal({ revision: second, entry: TWO });
    await bucket.remove(second);
    await bucket.remove(second);
    expect(await bucket.read(place)).to.deep.equal({ revision: 0 });
    await write(place, 0, THREE);
  });

  it('forgets an entry some time after it was last written, and leaves nothing behind', async () => {
    const short = await IdempotencyBucket.open(nc, TTL_MS);
    const place = newPlace();
    const startedMs = performance.now();
    const first = await short.write(place, 0, ONE);
    await short.write(place, first ?? 0, TWO);
    expect((await bucket.read(place)).entry).to.deep.equal(TWO);
    await waitFor('the end of the entry', FORGOTTEN_LIMIT_MS, async () => ((await bucket.read(place)).revision === 0 ? true : undefined));
    expect(performance.now() - startedMs).to.be.at.least(TTL_MS);
    await write(place, 0, THREE);
    const { state } = await (await jetstreamManager(nc)).streams.info('KV_IDEMPOTENCY', { subjects_filter: `$KV.IDEMPOTENCY.${place}` });
    expect(state.subjects).to.deep.equal({ [`$KV.IDEMPOTENCY.${place}`]: 1 });
  });

  it('treats a place that an operator purged or deleted as free', async () => {
    const kv = await new Kvm(nc).open('IDEMPOTENCY');
    for (const remove of ['purge', 'delete'] as const) {
      const place = newPlace();
      await write(place, 0, ONE);
      await kv[remove](place);
      expect(await bucket.write(place, 0, TWO)).to.equal(undefined);
      const { revision, entry } = await bucket.read(place);
      expect(entry).to.equal(undefined);
      await write(place, revision, TWO);
    }
  });

  it('stops at an entry that is none of ours', async () => {
    const place = newPlace();
    const kv = await new Kvm(nc).open('IDEMPOTENCY');
    await kv.put(place, '{"state":"unknown"}');
    await expectFailure(bucket.read(place), Defect);
  });

  it('says that NATS is away, and has kept everything when it is back', async () => {
    const place = newPlace();
    const revision = await write(place, 0, ONE);
    await nats.kill();
    for (const failure of await Promise.all([expectFailure(bucket.read(place), TransientError), expectFailure(bucket.write(newPlace(), 0, ONE), TransientError), expectFailure(bucket.remove(revision), TransientError)])) {
      expect(failure.dependency).to.equal('nats');
    }
    await nats.restart();
    const found = await waitFor('the server being back', BACK_LIMIT_MS, () => bucket.read(place).catch(() => undefined));
    expect(found).to.deep.equal({ revision, entry: ONE });
    await write(place, revision, TWO);
  });
});
