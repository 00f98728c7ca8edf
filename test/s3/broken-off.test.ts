import { randomBytes, randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { CompleteMultipartUploadCommand, CreateMultipartUploadCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { expect } from 'chai';
import { loadSettings } from '../../shared/config/load.ts';
import { TransientError } from '../../shared/errors/errors.ts';
import { ObjectExistsError } from '../../shared/objects/errors.ts';
import { resultKey, sourceKey, type ObjectKey } from '../../shared/objects/keys.ts';
import type { ObjectStore, StoredPart } from '../../shared/objects/object-store.ts';
import { OBJECT_SETTINGS } from '../../shared/objects/open-store.ts';
import { claimFirst, readClaim } from '../../shared/objects/s3/claim.ts';
import { openClient, type Bucket } from '../../shared/objects/s3/client.ts';
import { assembledName, incomingName } from '../../shared/objects/s3/names.ts';
import { openS3Store } from '../../shared/objects/s3/s3-store.ts';
import { waitFor } from '../../services/standalone/processes.ts';
import { makeBucket, type TestBucket } from '../support/ceph/bucket.ts';
import { sharedCeph } from '../support/ceph/start-ceph.ts';
import { startCuttingProxy, type CuttingProxy } from '../support/cutting-proxy.ts';
import { expectFailure } from '../support/expect-failure.ts';

const LIMITS = { maxBytes: 10_000_000 };
const ARRIVED_LIMIT_MS = 20_000;

describe('What broke off half-way in an S3 store', function () {
  this.timeout(120_000);
  let bucket: TestBucket;
  let store: ObjectStore;
  let proxy: CuttingProxy;
  /** The same bucket, through the proxy. */
  let cut: Bucket;

  before(async () => {
    bucket = await makeBucket(await sharedCeph());
    store = openS3Store({ ...bucket.options, spoolFolder: tmpdir(), lifetimes: loadSettings({}, OBJECT_SETTINGS) });
    proxy = await startCuttingProxy(Number(new URL(bucket.options.endpoint ?? '').port));
    cut = { client: openClient({ ...bucket.options, endpoint: `http://127.0.0.1:${proxy.port}` }), name: bucket.options.bucket };
  });
  after(async () => {
    bucket.client.destroy();
    cut.client.destroy();
    await proxy.stop();
  });

  const direct = (): Bucket => ({ client: bucket.client, name: bucket.options.bucket });

  /** An upload whose parts were put together by a process that died before it could say so. */
  async function assembleOnly(key: ObjectKey): Promise<StoredPart> {
    const uploadId = await store.openMultipart(key);
    const part = await store.writePart(key, uploadId, { partNumber: 1, sizeBytes: 5 }, Readable.from([Buffer.from('parts')]));
    const MultipartUpload = { Parts: [{ PartNumber: 1, ETag: `"${part.etag}"` }] };
    await bucket.client.send(new CompleteMultipartUploadCommand({ Bucket: bucket.options.bucket, Key: assembledName(key), UploadId: uploadId, MultipartUpload }));
    return part;
  }

  it('is completed by the client that asks again, and by whoever looks for the file (D45)', async () => {
    const [asked, looked] = [sourceKey(randomUUID()), sourceKey(randomUUID())];
    const parts = [await assembleOnly(asked), await assembleOnly(looked)];
    const head = await store.completeMultipart(asked, [parts[0]!]);
    expect(head).to.deep.equal(await store.bindUpload(looked, LIMITS));
    expect(await store.completeMultipart(looked, [parts[1]!])).to.deep.equal(head);
    for (const key of [asked, looked]) expect((await buffer(await store.read(key, { ifMatch: head.etag }))).toString()).to.equal('parts');
  });

  it('still wins over a file that came later, and goes when it is removed (D46)', async () => {
    const key = sourceKey(randomUUID());
    const part = await assembleOnly(key);
    await bucket.client.send(new PutObjectCommand({ Bucket: bucket.options.bucket, Key: incomingName(key), Body: 'single' }));
    expect((await store.completeMultipart(key, [part])).size_bytes).to.equal(5);
    await expectFailure(store.write(key, Readable.from([Buffer.from('third')]), LIMITS), ObjectExistsError);
    await store.remove(key);
    expect(await store.head(key)).to.equal(undefined);
    expect(await store.hasUpload(key)).to.equal(false);
  });

  it('does not keep another upload in parts from being opened', async () => {
    const key = sourceKey(randomUUID());
    // Opened by a process that died before it could note it.
    await bucket.client.send(new CreateMultipartUploadCommand({ Bucket: bucket.options.bucket, Key: assembledName(key) }));
    const uploadId = await store.openMultipart(key);
    expect(await store.openMultipart(key)).to.equal(uploadId);
    await store.abortMultipart(key);
  });

  it('is told apart from what another did when the answer to a claim is lost', async () => {
    const key = sourceKey(randomUUID());
    proxy.swallowAnswers();
    const claiming = claimFirst(cut, key, { name: `${key}/written-x`, size_bytes: 1, etag: '0'.repeat(32) });
    const stored = await waitFor('the claim', ARRIVED_LIMIT_MS, () => readClaim(direct(), key));
    proxy.cut();
    expect(await claiming).to.deep.equal(stored);
    const second = await claimFirst(direct(), key, { name: `${key}/written-y`, size_bytes: 2, etag: '1'.repeat(32) });
    expect(second, 'the claim that stands').to.deep.equal(stored);
    await store.remove(key);
  });

  it('fails as an outage when the store ends an answer early, and leaves no local file', async () => {
    const key = resultKey(randomUUID(), 1);
    await store.write(key, Readable.from([randomBytes(8_000_000)]), LIMITS);
    const through = openS3Store({ ...bucket.options, endpoint: `http://127.0.0.1:${proxy.port}`, spoolFolder: tmpdir(), lifetimes: loadSettings({}, OBJECT_SETTINGS) });
    const stream = await through.read(key);
    await new Promise((resolve) => stream.once('readable', resolve));
    proxy.cut();
    await expectFailure(buffer(stream), TransientError);
  });
});
