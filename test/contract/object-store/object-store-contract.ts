import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import { IncompleteBodyError, ObjectChangedError, ObjectExistsError, ObjectNotFoundError, ObjectTooLargeError } from '../../../shared/objects/errors.ts';
import { resultKey, resultPrefix, sourceKey, type ObjectPrefix } from '../../../shared/objects/keys.ts';
import type { ObjectStore } from '../../../shared/objects/object-store.ts';
import { describeMultipart } from './multipart-contract.ts';
import { expectFailure } from '../../support/expect-failure.ts';

const LIMITS = { maxBytes: 1_000_000 };

/** A store under test and how to end it. */
export type StoreUnderTest = { readonly store: ObjectStore; readonly stop: () => Promise<void> };

/** What every object store does; each implementation passes it. */
export function describeObjectStore(name: string, start: () => Promise<StoreUnderTest>): void {
  describe(`the object store port: ${name}`, () => {
    let store: ObjectStore;
    let stop: () => Promise<void>;
    let folder: string;
    before(async () => {
      ({ store, stop } = await start());
      folder = await mkdtemp(join(tmpdir(), 'object-store-'));
    });
    after(async () => {
      await stop();
      await rm(folder, { recursive: true, force: true });
    });
    describeReading(() => ({ store, folder }));
    describeWriting(() => ({ store, folder }));
    describeRemoving(() => ({ store, folder }));
    describeMultipart(() => store);
  });
}

type Given = () => { store: ObjectStore; folder: string };

function describeReading(given: Given): void {
  it('knows nothing of an object that was never stored', async () => {
    const { store, folder } = given();
    const key = sourceKey(randomUUID());
    expect(await store.head(key)).to.equal(undefined);
    await expectFailure(store.read(key), ObjectNotFoundError);
    await expectFailure(store.readHead(key, 10), ObjectNotFoundError);
    await expectFailure(store.download(key, join(folder, 'nothing')), ObjectNotFoundError);
    expect(await readdir(folder)).to.not.include('nothing');
  });

  it('gives back the bytes, whole, in ranges and from the start', async () => {
    const { store } = given();
    const bytes = randomBytes(300_000);
    const key = sourceKey(randomUUID());
    await store.write(key, Readable.from([bytes.subarray(0, 7), bytes.subarray(7)]), LIMITS);
    expect((await buffer(await store.read(key))).equals(bytes)).to.equal(true);
    expect((await buffer(await store.read(key, { range: { start: 5, end: 9 } }))).equals(bytes.subarray(5, 10))).to.equal(true);
    expect((await buffer(await store.read(key, { range: { start: 299_999, end: 299_999 } }))).equals(bytes.subarray(-1))).to.equal(true);
    expect((await store.readHead(key, 16)).equals(bytes.subarray(0, 16))).to.equal(true);
    expect((await store.readHead(key, 1_000_000)).equals(bytes)).to.equal(true);
  });

  it('stores and reads an empty object', async () => {
    const { store, folder } = given();
    const key = sourceKey(randomUUID());
    await store.write(key, Readable.from([]), LIMITS);
    expect(await store.head(key)).to.deep.equal({ size_bytes: 0, etag: hash('md5', Buffer.alloc(0)) });
    expect(await buffer(await store.read(key))).to.have.lengthOf(0);
    expect(await store.readHead(key, 10)).to.have.lengthOf(0);
    await store.download(key, join(folder, 'empty'));
    expect(await readFile(join(folder, 'empty'))).to.have.lengthOf(0);
  });

  it('copies an object into a local file and names its hashes', async () => {
    const { store, folder } = given();
    const bytes = randomBytes(600_000);
    const key = sourceKey(randomUUID());
    await store.write(key, Readable.from([bytes]), LIMITS);
    const record = await store.download(key, join(folder, 'copy'), { ifMatch: hash('md5', bytes) });
    expect(record).to.deep.equal({ size_bytes: 600_000, etag: hash('md5', bytes), sha256: hash('sha256', bytes) });
    expect((await readFile(join(folder, 'copy'))).equals(bytes)).to.equal(true);
  });

  it('refuses to read another object than the one that is meant', async () => {
    const { store, folder } = given();
    const key = resultKey(randomUUID(), 1);
    const { etag } = await store.write(key, Readable.from([Buffer.from('first')]), LIMITS);
    expect(await buffer(await store.read(key, { ifMatch: etag }))).to.have.lengthOf(5);
    await store.write(key, Readable.from([Buffer.from('second')]), LIMITS);
    await expectFailure(store.read(key, { ifMatch: etag }), ObjectChangedError);
    await expectFailure(store.download(key, join(folder, 'other'), { ifMatch: etag }), ObjectChangedError);
  });
}

function describeWriting(given: Given): void {
  it('answers size, MD5 as entity tag, and SHA-256 of what it stored', async () => {
    const { store, folder } = given();
    const bytes = randomBytes(1000);
    const expected = { size_bytes: 1000, etag: hash('md5', bytes), sha256: hash('sha256', bytes) };
    const key = resultKey(randomUUID(), 1);
    expect(await store.write(key, Readable.from([bytes]), LIMITS)).to.deep.equal(expected);
    expect(await store.head(key)).to.deep.equal({ size_bytes: 1000, etag: expected.etag });
    const path = join(folder, 'result');
    await writeFile(path, bytes);
    expect(await store.write(resultKey(randomUUID(), 1), path, LIMITS)).to.deep.equal(expected);
  });

  it('keeps the first source for ever and takes the same bytes again as the same upload', async () => {
    const { store } = given();
    const key = sourceKey(randomUUID());
    const first = await store.write(key, Readable.from([Buffer.from('first')]), LIMITS);
    await expectFailure(store.write(key, Readable.from([Buffer.from('other')]), LIMITS), ObjectExistsError);
    expect(await store.write(key, Readable.from([Buffer.from('first')]), LIMITS)).to.deep.equal(first);
    expect((await buffer(await store.read(key))).toString()).to.equal('first');
  });

  it('lets exactly one of many concurrent uploads win', async () => {
    const { store } = given();
    const key = sourceKey(randomUUID());
    const bodies = Array.from({ length: 12 }, () => randomBytes(50_000));
    const outcomes = await Promise.allSettled(bodies.map((body) => store.write(key, Readable.from([body]), LIMITS)));
    const winners = outcomes.flatMap((outcome, index) => (outcome.status === 'fulfilled' ? [index] : []));
    expect(winners).to.have.lengthOf(1);
    expect((await buffer(await store.read(key))).equals(bodies[winners[0] ?? -1] ?? Buffer.alloc(0))).to.equal(true);
    for (const outcome of outcomes) if (outcome.status === 'rejected') expect(outcome.reason).to.be.instanceOf(ObjectExistsError);
  });

  it('replaces the result of the same attempt only', async () => {
    const { store } = given();
    const jobId = randomUUID();
    await store.write(resultKey(jobId, 1), Readable.from([Buffer.from('one')]), LIMITS);
    await store.write(resultKey(jobId, 2), Readable.from([Buffer.from('two')]), LIMITS);
    await store.write(resultKey(jobId, 1), Readable.from([Buffer.from('one again')]), LIMITS);
    expect((await buffer(await store.read(resultKey(jobId, 1)))).toString()).to.equal('one again');
    expect((await buffer(await store.read(resultKey(jobId, 2)))).toString()).to.equal('two');
  });

  it('takes a body of exactly the limit and leaves nothing of a longer one', async () => {
    const { store } = given();
    const key = sourceKey(randomUUID());
    const failure = await expectFailure(store.write(key, Readable.from([Buffer.alloc(60), Buffer.alloc(41)]), { maxBytes: 100 }), ObjectTooLargeError);
    expect(failure.details).to.deep.equal({ max_bytes: 100 });
    expect(await store.head(key)).to.equal(undefined);
    await store.write(key, Readable.from([Buffer.alloc(100)]), { maxBytes: 100 });
    expect((await store.head(key))?.size_bytes).to.equal(100);
  });

  it('leaves nothing of a body that is shorter or longer than declared, or that breaks off', async () => {
    const { store } = given();
    const key = sourceKey(randomUUID());
    await expectFailure(store.write(key, Readable.from([Buffer.alloc(99)]), { ...LIMITS, expectedBytes: 100 }), IncompleteBodyError);
    await expectFailure(store.write(key, Readable.from([Buffer.alloc(101)]), { ...LIMITS, expectedBytes: 100 }), IncompleteBodyError);
    await expectFailure(store.write(key, breakingOff(new Error('reset')), LIMITS), IncompleteBodyError);
    const cut = new Readable({ read() { /* never anything more */ } });
    cut.push(Buffer.alloc(10));
    setImmediate(() => cut.destroy());
    await expectFailure(store.write(key, cut, LIMITS), IncompleteBodyError);
    expect(await store.head(key)).to.equal(undefined);
  });

  it('passes on why the stream itself gave up', async () => {
    const { store } = given();
    await expectFailure(store.write(sourceKey(randomUUID()), breakingOff(new ObjectTooLargeError(7)), LIMITS), ObjectTooLargeError);
  });
}

function describeRemoving(given: Given): void {
  it('removes an object, and does nothing when there is none', async () => {
    const { store } = given();
    const key = resultKey(randomUUID(), 1);
    await store.write(key, Readable.from([Buffer.from('x')]), LIMITS);
    await store.remove(key);
    expect(await store.head(key)).to.equal(undefined);
    await store.remove(key);
    await store.write(key, Readable.from([Buffer.from('y')]), LIMITS);
    expect((await store.head(key))?.size_bytes).to.equal(1);
  });

  it('goes on reading an object that is removed meanwhile', async () => {
    const { store } = given();
    const key = resultKey(randomUUID(), 1);
    await store.write(key, Readable.from([Buffer.alloc(900_000, 1)]), LIMITS);
    const stream = await store.read(key);
    await store.remove(key);
    expect(await buffer(stream)).to.have.lengthOf(900_000);
  });

  it('removes the results of one job and no other', async () => {
    const { store } = given();
    const [jobId, other] = [randomUUID(), randomUUID()];
    for (const key of [resultKey(jobId, 1), resultKey(jobId, 2), resultKey(other, 1)]) await store.write(key, Readable.from([Buffer.from('x')]), LIMITS);
    await store.removePrefix(resultPrefix(jobId));
    expect(await keysOf(store, resultPrefix(jobId))).to.deep.equal([]);
    expect(await store.head(resultKey(other, 1))).to.not.equal(undefined);
  });

  it('lists what it has, with sizes and times', async () => {
    const { store } = given();
    const jobId = randomUUID();
    await store.write(sourceKey(jobId), Readable.from([Buffer.alloc(3)]), LIMITS);
    await store.write(resultKey(jobId, 1), Readable.from([Buffer.alloc(4)]), LIMITS);
    expect(await keysOf(store, 'source/')).to.include(sourceKey(jobId));
    expect(await keysOf(store, 'result/')).to.include(resultKey(jobId, 1)).and.not.include(sourceKey(jobId));
    for await (const listed of store.list(resultPrefix(jobId))) {
      expect(listed).to.include({ key: resultKey(jobId, 1), size_bytes: 4 });
      expect(listed.modified_at_ms).to.be.closeTo(Date.now(), 60_000);
    }
  });

  it('signs the same link for the same terms, and another for others', async () => {
    const { store } = given();
    const key = sourceKey(randomUUID());
    const terms = { expiresAtMs: 1_900_000_000_000, maxBytes: 5 };
    expect(await store.signUpload(key, terms)).to.equal(await store.signUpload(key, terms));
    expect(await store.signUpload(key, { ...terms, expiresAtMs: 1_900_000_001_000 })).to.not.equal(await store.signUpload(key, terms));
    const download = { expiresAtMs: 1_900_000_000_000, contentType: 'image/webp', disposition: 'attachment' };
    expect(await store.signDownload(key, download)).to.equal(await store.signDownload(key, download));
  });

  it('answers a probe', async () => {
    await given().store.probe();
  });
}

async function keysOf(store: ObjectStore, prefix: ObjectPrefix): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of store.list(prefix)) keys.push(key);
  return keys;
}

function breakingOff(error: Error): Readable {
  let sent = false;
  return new Readable({
    read() {
      if (sent) this.destroy(error);
      else this.push(Buffer.alloc(1000));
      sent = true;
    },
  });
}

function hash(algorithm: 'md5' | 'sha256', bytes: Buffer): string {
  return createHash(algorithm).update(bytes).digest('hex');
}
