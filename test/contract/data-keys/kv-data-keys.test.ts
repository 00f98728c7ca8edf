import { randomBytes, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { expect } from 'chai';
import { ConfigurationError, Defect, TransientError } from '../../../shared/errors/errors.ts';
import { createLogger } from '../../../shared/log/log.ts';
import { connectNats } from '../../../shared/nats/connect.ts';
import { jobKeyName, type DataKeys } from '../../../shared/privacy/data-keys.ts';
import { DATA_KEY_CACHE_MS, KEYS_BUCKET, openKvDataKeys } from '../../../shared/privacy/kv-data-keys.ts';
import { openMasterKey } from '../../../shared/privacy/master-key.ts';
import { expectFailure } from '../../support/expect-failure.ts';
import { startNats, type TestNats } from '../../support/servers.ts';
import { keys as keysDefinition } from '../../../streams/buckets.ts';
import { describeDataKeys } from './data-keys-contract.ts';

describe('data keys in the KEYS bucket', () => {
  const masterKey = openMasterKey(randomBytes(32).toString('base64'));
  const clock = { ms: 1_900_000_000_000, nowMs: () => clock.ms };
  let nats: TestNats;
  let connection: NatsConnection;
  let keys: DataKeys;
  before(async () => {
    nats = await startNats();
    connection = await connectNats({ url: nats.url, name: 'test', logger: createLogger('test', 'silent') });
    await (await jetstreamManager(connection)).streams.add({ name: keysDefinition.name, ...keysDefinition.config });
    keys = await openKvDataKeys(connection, masterKey, clock);
  });
  after(async () => {
    await connection.close();
    await nats.stop();
  });

  describeDataKeys('NATS KV', () => keys);

  it('stores no key in clear, and nothing of a destroyed one', async () => {
    const name = jobKeyName(randomUUID());
    const key = await keys.create(name);
    const bucket = await new Kvm(connection).open(KEYS_BUCKET);
    const stored = (await bucket.get(name))?.string() ?? '';
    expect(stored).to.match(new RegExp(`^v1\\.${masterKey.kid}\\.[\\w-]+\\.[\\w-]+$`));
    for (const encoding of ['hex', 'base64', 'base64url'] as const) expect(stored).to.not.contain(key.export().toString(encoding));
    await keys.destroy(name);
    const history: string[] = [];
    for await (const entry of await bucket.history({ key: name })) history.push(`${entry.operation}:${entry.string()}`);
    expect(history).to.deep.equal(['PURGE:']);
  });

  it('leaves no byte of a destroyed key on the disk, also when two processes destroy it at once', async () => {
    const name = jobKeyName(randomUUID());
    const elsewhere = await openKvDataKeys(connection, masterKey, clock);
    await keys.create(name);
    const bucket = await new Kvm(connection).open(KEYS_BUCKET);
    const ciphertext = (await bucket.get(name))?.string().split('.').at(-1) ?? '';
    expect(await isOnDisk(nats.folder, ciphertext)).to.equal(true);
    await Promise.all([keys.destroy(name), elsewhere.destroy(name)]);
    expect(await isOnDisk(nats.folder, ciphertext)).to.equal(false);
  });

  it('lets a key that another process destroyed live for the cache time and no longer', async () => {
    const name = jobKeyName(randomUUID());
    const elsewhere = await openKvDataKeys(connection, masterKey, clock);
    await elsewhere.create(name);
    await keys.destroy(name);
    clock.ms += DATA_KEY_CACHE_MS - 1;
    expect(await elsewhere.get(name)).to.not.equal(undefined);
    clock.ms += 1;
    expect(await elsewhere.get(name)).to.equal(undefined);
  });

  it('says at start that the master key is another one', async () => {
    const other = openMasterKey(randomBytes(32).toString('base64'));
    const failure = await expectFailure(openKvDataKeys(connection, other), ConfigurationError);
    expect(failure.problems[0]).to.contain('MASTER_KEY').and.contain(masterKey.kid).and.contain(other.kid);
  });

  it('finds a wrapped key that was altered or moved to another name', async () => {
    const bucket = await new Kvm(connection).open(KEYS_BUCKET);
    const [from, to] = [jobKeyName(randomUUID()), jobKeyName(randomUUID())];
    await keys.create(from);
    const wrapped = (await bucket.get(from))?.string() ?? '';
    await bucket.put(to, wrapped);
    await expectFailure(keys.get(to), Defect);
    await bucket.put(to, wrapped.replace(/.{8}$/, 'AAAAAAAA'));
    await expectFailure(keys.get(to), Defect);
  });

  it('says that NATS is away, and goes on when it is back', async () => {
    const name = jobKeyName(randomUUID());
    await nats.kill();
    const [created, read] = await Promise.all([expectFailure(keys.create(name), TransientError), expectFailure(keys.get(name), TransientError)]);
    expect([created.dependency, read.dependency]).to.deep.equal(['nats', 'nats']);
    await nats.restart();
    const key = await retryWhileAway(() => keys.create(name));
    expect((await keys.get(name))?.equals(key)).to.equal(true);
  });
});

/** Whether any file below the folder contains the text. */
async function isOnDisk(folder: string, text: string): Promise<boolean> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const contents = await Promise.all(files.map((file) => readFile(join(file.parentPath, file.name))));
  return contents.some((content) => content.includes(text));
}

/** Attempts of a call on a server that is just coming back; each waits for the client's own time limit. */
const ATTEMPTS_MAX = 5;

async function retryWhileAway<Result>(call: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof TransientError) || attempt === ATTEMPTS_MAX) throw error;
    }
  }
}
