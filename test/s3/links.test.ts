import { randomBytes, randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import { resultKey, sourceKey, type ObjectKey } from '../../shared/objects/keys.ts';
import type { ObjectStore } from '../../shared/objects/object-store.ts';
import { loadSettings } from '../../shared/config/load.ts';
import { OBJECT_SETTINGS } from '../../shared/objects/open-store.ts';
import { openS3Store, type S3StoreOptions } from '../../shared/objects/s3/s3-store.ts';
import { waitFor } from '../../services/standalone/processes.ts';
import { makeBucket, type TestBucket } from '../support/ceph/bucket.ts';
import { sharedCeph } from '../support/ceph/start-ceph.ts';

const LIMITS = { maxBytes: 100_000 };
const MINUTE_MS = 60_000;
const OVER_LIMIT_MS = 10_000;

describe('Links to an S3 store', function () {
  this.timeout(120_000);
  let bucket: TestBucket;
  let store: ObjectStore;

  before(async () => {
    bucket = await makeBucket(await sharedCeph());
    store = openS3Store(optionsOf(bucket));
  });
  after(() => bucket.client.destroy());

  const signUpload = (key: ObjectKey, expiresAtMs = soon()): Promise<string> => store.signUpload(key, { expiresAtMs, maxBytes: 100 });

  it('take a file, and are the same for as long as they work (D18)', async () => {
    const key = sourceKey(randomUUID());
    const expiresAtMs = soon();
    const url = await signUpload(key, expiresAtMs);
    expect(await put(url, 'a file')).to.equal(200);
    await waitFor('another second', OVER_LIMIT_MS, () => Date.now() > expiresAtMs - MINUTE_MS + 1_100 || undefined);
    expect(await openS3Store(optionsOf(bucket)).signUpload(key, { expiresAtMs, maxBytes: 100 })).to.equal(url);
    expect(await store.head(key), 'not bound yet').to.equal(undefined);
    expect(await store.hasUpload(key)).to.equal(true);
    const head = await store.bindUpload(key, LIMITS);
    expect(head?.size_bytes).to.equal(6);
    expect(await store.head(key)).to.deep.equal(head);
  });

  it('change nothing any more once the file is bound, whoever sends what (D46)', async () => {
    const key = sourceKey(randomUUID());
    const url = await signUpload(key);
    await put(url, 'first');
    const bound = await Promise.all(Array.from({ length: 4 }, () => store.bindUpload(key, LIMITS)));
    for (const head of bound) expect(head).to.deep.equal(bound[0]);
    expect(await put(url, 'second')).to.equal(200);
    expect(await store.bindUpload(key, LIMITS)).to.deep.equal(bound[0]);
    expect((await buffer(await store.read(key, { ifMatch: bound[0]?.etag ?? '' }))).toString()).to.equal('first');
  });

  it('settle on one file when another one arrives while the first is being bound (D46)', async () => {
    const key = sourceKey(randomUUID());
    const url = await signUpload(key);
    const files = Array.from({ length: 8 }, () => randomBytes(20_000));
    await put(url, files[0] ?? '');
    const heads = await Promise.all(files.flatMap((file) => [put(url, file).then(() => undefined), store.bindUpload(key, LIMITS)]));
    const final = await store.bindUpload(key, LIMITS);
    for (const head of heads) if (head) expect(head).to.deep.equal(final);
    const bytes = await buffer(await store.read(key, { ifMatch: final?.etag ?? '' }));
    expect(files.some((file) => file.equals(bytes))).to.equal(true);
  });

  it('answer a file that is too long without binding it (D91)', async () => {
    const key = sourceKey(randomUUID());
    await put(await signUpload(key), Buffer.alloc(101));
    expect((await store.bindUpload(key, { maxBytes: 100 }))?.size_bytes).to.equal(101);
    expect(await store.head(key)).to.equal(undefined);
    await store.remove(key);
    expect(await store.hasUpload(key)).to.equal(false);
  });

  it('win for the file that was whole first when it also comes in parts (D46)', async () => {
    const key = sourceKey(randomUUID());
    const uploadId = await store.openMultipart(key);
    const part = await store.writePart(key, uploadId, { partNumber: 1, sizeBytes: 5 }, Readable.from([Buffer.from('parts')]));
    await put(await signUpload(key), 'single');
    expect(await store.completeMultipart(key, [part]).catch((error: unknown) => error instanceof Error && error.name)).to.equal('ObjectExistsError');
    expect((await store.bindUpload(key, LIMITS))?.size_bytes).to.equal(6);
    await store.abortMultipart(key);
  });

  it('are refused when they are forged, expired, or used for something else', async () => {
    const [key, other] = [sourceKey(randomUUID()), sourceKey(randomUUID())];
    const url = await signUpload(key);
    for (const forged of [url.replace(/Signature=\w/, 'Signature=_'), url.replace(key, other), url.replace(/Expires=\d+/, 'Expires=604800'), `${url}&a=b`, url.replace(/\?.*/, '')]) {
      expect(await put(forged, 'x'), forged.replace(/\?.*/, '')).to.equal(403);
    }
    expect(await put(await signUpload(key, Date.now() - 1_000), 'x')).to.equal(403);
    expect((await fetch(url)).status).to.equal(403);
    expect((await fetch(url, { method: 'DELETE' })).status).to.equal(403);
    expect(await store.hasUpload(key)).to.equal(false);
    expect(await store.hasUpload(other)).to.equal(false);
  });

  it('cannot be made to copy the file of somebody else, or to publish one', async () => {
    const secret = resultKey(randomUUID(), 1);
    await store.write(secret, Readable.from([Buffer.from('not yours')]), LIMITS);
    const key = sourceKey(randomUUID());
    const url = await signUpload(key);
    expect(await put(url, '', { 'x-amz-copy-source': `/${bucket.options.bucket}/${secret}` })).to.equal(403);
    expect(await put(url, 'x', { 'x-amz-acl': 'public-read' })).to.equal(403);
    for (const grant of ['read', 'read-acp', 'write-acp', 'full-control']) expect(await put(url, 'x', { [`x-amz-grant-${grant}`]: 'uri="http://acs.amazonaws.com/groups/global/AllUsers"' }), grant).to.equal(403);
    expect(await store.hasUpload(key)).to.equal(false);
    const part = await store.signPart(key, await store.openMultipart(key), { partNumber: 1, sizeBytes: 9, expiresAtMs: soon() });
    expect(await put(part, Buffer.alloc(9), { 'x-amz-copy-source': `/${bucket.options.bucket}/${secret}` })).to.be.within(400, 499);
    expect(await store.listParts(key)).to.deep.equal([]);
    await store.abortMultipart(key);
  });

  it('of parts take exactly the length they are signed for, until the upload is closed (§4.4)', async () => {
    const key = sourceKey(randomUUID());
    const uploadId = await store.openMultipart(key);
    const terms = { partNumber: 1, sizeBytes: 1000, expiresAtMs: soon() };
    const url = await store.signPart(key, uploadId, terms);
    expect(await put(url, Buffer.alloc(999))).to.equal(403);
    expect(await put(url, Buffer.alloc(1001))).to.equal(403);
    expect(await put(await store.signPart(key, uploadId, { ...terms, expiresAtMs: Date.now() - 1_000 }), Buffer.alloc(1000))).to.equal(403);
    expect(await store.listParts(key)).to.deep.equal([]);
    const response = await fetch(url, { method: 'PUT', body: Buffer.alloc(1000) });
    expect([response.status, response.headers.get('etag')]).to.deep.equal([200, `"${(await store.listParts(key))[0]?.etag}"`]);
    await store.abortMultipart(key);
    expect(await put(url, Buffer.alloc(1000))).to.equal(404);
  });

  it('of results answer the type and the disposition that were signed, and nothing else', async () => {
    const key = resultKey(randomUUID(), 1);
    await store.write(key, Readable.from([Buffer.from('<svg/>')]), LIMITS);
    const terms = { expiresAtMs: soon(), contentType: 'image/svg+xml', disposition: 'attachment; filename="a.svg"' };
    const url = await store.signDownload(key, terms);
    const response = await fetch(url);
    expect(await response.text()).to.equal('<svg/>');
    expect([response.headers.get('content-type'), response.headers.get('content-disposition')]).to.deep.equal([terms.contentType, terms.disposition]);
    expect((await fetch(url, { headers: { Range: 'bytes=1-3' } })).status).to.equal(206);
    for (const forged of [url.replace('svg%2Bxml', 'png'), url.replace('attachment', 'inline'), url.replace('/1?', '/2?')]) expect((await fetch(forged)).status).to.equal(403);
    expect((await fetch(await store.signDownload(key, { ...terms, expiresAtMs: Date.now() - 1_000 }))).status).to.equal(403);
    await store.remove(key);
    expect((await fetch(url)).status).to.equal(404);
  });

  it('are signed for the address under which clients reach the store', async () => {
    const elsewhere = openS3Store({ ...optionsOf(bucket), publicEndpoint: 'https://files.example.com' });
    expect(new URL(await elsewhere.signUpload(sourceKey(randomUUID()), { expiresAtMs: soon(), maxBytes: 1 })).origin).to.equal('https://files.example.com');
    await elsewhere.probe();
  });

  it('can be used by a browser of any origin, which may read the entity tag (D63)', async () => {
    const url = await signUpload(sourceKey(randomUUID()));
    const origin = 'https://app.example.com';
    const asked = await fetch(url, { method: 'OPTIONS', headers: { Origin: origin, 'Access-Control-Request-Method': 'PUT', 'Access-Control-Request-Headers': 'content-type' } });
    expect(asked.status).to.equal(200);
    expect(asked.headers.get('access-control-allow-origin')).to.be.oneOf(['*', origin]);
    const response = await fetch(url, { method: 'PUT', body: 'x', headers: { Origin: origin } });
    expect(response.headers.get('access-control-expose-headers')).to.match(/etag/i);
  });
});

function soon(): number {
  return Date.now() + MINUTE_MS;
}

async function put(url: string, body: string | Buffer, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const response = await fetch(url, { method: 'PUT', body, headers });
  await response.arrayBuffer();
  return response.status;
}

function optionsOf(bucket: TestBucket): S3StoreOptions {
  return { ...bucket.options, spoolFolder: tmpdir(), lifetimes: loadSettings({}, OBJECT_SETTINGS) };
}
