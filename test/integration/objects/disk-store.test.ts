import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough, Readable } from 'node:stream';
import { expect } from 'chai';
import { waitFor } from '../../../services/standalone/processes.ts';
import { Defect, TransientError } from '../../../shared/errors/errors.ts';
import { openDiskStore } from '../../../shared/objects/disk/disk-store.ts';
import { STAGED_KEEP_MS } from '../../../shared/objects/disk/staging.ts';
import { ObjectExistsError, ObjectTooLargeError } from '../../../shared/objects/errors.ts';
import { parseKey, resultKey, sourceKey } from '../../../shared/objects/keys.ts';
import type { ObjectStore } from '../../../shared/objects/object-store.ts';
import { receiveUpload } from '../../../shared/objects/receive-upload.ts';
import { openMasterKey } from '../../../shared/privacy/master-key.ts';
import { expectFailure } from '../../support/expect-failure.ts';

const masterKey = openMasterKey(Buffer.alloc(32).toString('base64'));
/** Objects a child stores before it is killed. */
const OBJECTS_BEFORE_KILL = 40;

describe('the disk store', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'disk-store-'));
  });
  afterEach(async () => {
    await rm(folder, { recursive: true, force: true });
  });
  const openAt = (aheadMs = 0): Promise<ObjectStore> => openDiskStore({ folder, publicUrl: 'http://127.0.0.1:1/', masterKey, clock: { nowMs: () => Date.now() + aheadMs } });
  const staged = (): Promise<string[]> => readdir(join(folder, '.tmp'));

  it('shows only whole objects after its process was killed, and sweeps what that left behind half an hour later', async () => {
    const stored = await killWhileWriting(folder);
    const store = await openAt();
    for (const key of stored) expect(await store.head(key)).to.not.equal(undefined);
    let count = 0;
    for await (const { key } of store.list('source/')) {
      // Copying compares the content with its hash.
      await store.download(key, join(folder, `copy-${count}`));
      count += 1;
    }
    expect(count).to.be.greaterThan(0);
    await writeFile(join(folder, '.tmp', 'half-written'), 'x');
    await openAt(STAGED_KEEP_MS - 60_000);
    expect(await staged()).to.include('half-written');
    await openAt(STAGED_KEEP_MS + 60_000);
    expect(await staged()).to.deep.equal([]);
  });

  it('leaves no temporary file behind, whatever comes of a write', async () => {
    const store = await openAt();
    const key = sourceKey(randomUUID());
    await store.write(key, Readable.from([Buffer.from('one')]), { maxBytes: 10 });
    await expectFailure(store.write(key, Readable.from([Buffer.from('two')]), { maxBytes: 10 }), ObjectExistsError);
    await expectFailure(store.write(key, Readable.from([Buffer.alloc(11)]), { maxBytes: 10 }), ObjectTooLargeError);
    await store.write(resultKey(randomUUID(), 1), Readable.from([Buffer.from('three')]), { maxBytes: 10 });
    await store.probe();
    expect(await staged()).to.deep.equal([]);
  });

  it('lets one of several processes win the same source', async () => {
    const stores = await Promise.all([openAt(), openAt(), openAt()]);
    const key = sourceKey(randomUUID());
    const outcomes = await Promise.allSettled(stores.map((store, index) => store.write(key, Readable.from([Buffer.from(`body ${index}`)]), { maxBytes: 10 })));
    expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).to.have.lengthOf(1);
  });

  it('completes an upload in parts that several processes complete at once, always with the same answer', async () => {
    const stores = await Promise.all([openAt(), openAt(), openAt()]);
    const [first] = stores;
    for (let round = 0; round < 20; round += 1) {
      const key = sourceKey(randomUUID());
      const uploadId = await first?.openMultipart(key);
      const parts = await Promise.all([1, 2, 3].map((partNumber) => first?.writePart(key, uploadId ?? '', { partNumber, sizeBytes: 100_000 }, Readable.from([Buffer.alloc(100_000, partNumber)]))));
      const named = parts.filter((part) => part !== undefined);
      const heads = await Promise.all(stores.map((store) => store.completeMultipart(key, named)));
      expect(heads).to.deep.equal(stores.map(() => heads[0]));
    }
    expect(await readdir(join(folder, 'multipart'))).to.deep.equal([]);
    expect(await staged()).to.deep.equal([]);
  });

  it('sweeps an upload in parts that was being dropped when its process died', async () => {
    await openAt();
    await mkdir(join(folder, '.tmp', randomUUID(), randomUUID()), { recursive: true });
    await openAt(STAGED_KEEP_MS + 60_000);
    expect(await staged()).to.deep.equal([]);
  });

  it('sweeps what another process left behind while it runs, and nothing that is being written', async () => {
    let aheadMs = 0;
    const store = await openDiskStore({ folder, publicUrl: 'http://127.0.0.1:1/', masterKey, sweepEveryMs: 20, clock: { nowMs: () => Date.now() + aheadMs } });
    await writeFile(join(folder, '.tmp', 'half-written'), 'x');
    const body = new PassThrough();
    const key = sourceKey(randomUUID());
    const writing = store.write(key, body, { maxBytes: 10 });
    await waitFor('the file that is being written', 5_000, async () => ((await staged()).length === 2 ? true : undefined));
    const old = new Date(Date.now() - 60_000);
    await utimes(join(folder, '.tmp', 'half-written'), old, old);
    aheadMs = STAGED_KEEP_MS - 30_000;
    await waitFor('the sweep', 5_000, async () => ((await staged()).includes('half-written') ? undefined : true));
    body.end('whole');
    expect((await writing).size_bytes).to.equal(5);
  });

  it('keeps files to its own user', async () => {
    const store = await openAt();
    const key = sourceKey(randomUUID());
    await store.write(key, Readable.from([Buffer.from('x')]), { maxBytes: 10 });
    expect((await stat(join(folder, key))).mode & 0o077).to.equal(0);
    expect((await stat(join(folder, 'source'))).mode & 0o077).to.equal(0);
  });

  it('removes the folder of a job with its last result', async () => {
    const store = await openAt();
    const jobId = randomUUID();
    for (const attempt of [1, 2]) await store.write(resultKey(jobId, attempt), Readable.from([Buffer.from('x')]), { maxBytes: 10 });
    await store.remove(resultKey(jobId, 1));
    expect(await readdir(join(folder, 'result'))).to.deep.equal([jobId]);
    await store.remove(resultKey(jobId, 2));
    expect(await readdir(join(folder, 'result'))).to.deep.equal([]);
  });

  it('finds a file that was cut or whose content was altered', async () => {
    const store = await openAt();
    const [cut, altered] = [sourceKey(randomUUID()), sourceKey(randomUUID())];
    for (const key of [cut, altered]) await store.write(key, Readable.from([Buffer.alloc(1000)]), { maxBytes: 1000 });
    await truncate(join(folder, cut), 900);
    await expectFailure(store.head(cut), Defect);
    await writeFile(join(folder, altered), 'X', { flag: 'r+' });
    await expectFailure(store.download(altered, join(folder, 'copy')), Defect);
    expect(await readdir(folder)).to.not.include('copy');
  });

  it('passes over what is not ours in its folders', async () => {
    const store = await openAt();
    await writeFile(join(folder, 'source', 'README'), 'x');
    await writeFile(join(folder, 'result', 'README'), 'x');
    for (const prefix of ['source/', 'result/'] as const) for await (const { key } of store.list(prefix)) expect.fail(key);
  });

  it('says that the storage is away when its folder is', async () => {
    const store = await openAt();
    await rm(folder, { recursive: true });
    const failures = [await expectFailure(store.probe(), TransientError), await expectFailure(store.write(sourceKey(randomUUID()), Readable.from([]), { maxBytes: 1 }), TransientError)];
    expect(failures.map((failure) => failure.dependency)).to.deep.equal(['storage', 'storage']);
  });

  it('reads nothing of an upload that declares too much, and can still be answered', async () => {
    const store = await openAt();
    const body = Readable.from([Buffer.alloc(5)]);
    await expectFailure(receiveUpload(store, sourceKey(randomUUID()), body, { declaredBytes: 11, maxBytes: 10 }), ObjectTooLargeError);
    expect(body.readableDidRead).to.equal(false);
    const chunked = Readable.from([Buffer.alloc(6), Buffer.alloc(6), Buffer.alloc(6)]);
    await expectFailure(receiveUpload(store, sourceKey(randomUUID()), chunked, { declaredBytes: undefined, maxBytes: 10 }), ObjectTooLargeError);
    expect(chunked.destroyed).to.equal(false);
  });
});

/** Starts a process that writes objects, kills it, and answers the keys it said were stored. */
async function killWhileWriting(folder: string): Promise<ReturnType<typeof sourceKey>[]> {
  const child = spawn(process.execPath, ['--import', 'tsx', join(import.meta.dirname, 'endless-writer.ts'), folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  const keys: ReturnType<typeof sourceKey>[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const key = parseKey(line)?.key;
    if (key) keys.push(key);
    if (keys.length >= OBJECTS_BEFORE_KILL) child.kill('SIGKILL');
  }
  await closed;
  return keys;
}
