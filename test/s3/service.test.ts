import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { ListMultipartUploadsCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import sharp from 'sharp';
import { waitFor } from '../../services/standalone/processes.ts';
import { requireCleanAudit } from '../support/books.ts';
import { s3Service, SINGLE_UPLOAD_BYTES_MAX, type S3Service } from '../support/ceph/s3-service.ts';
import { resultUrlOf, tasksOf, TestClient, uploadUrlOf } from '../support/client.ts';
import { fixturePath } from '../support/fixtures.ts';
import { makeLargePhoto, MultipartUpload } from '../support/multipart.ts';
import { openApiCheck } from '../support/openapi-check.ts';
import { serve } from '../support/origin.ts';
import { readPicture } from '../support/pictures.ts';

/** Cleaning follows the end of a job within milliseconds; a busy machine takes longer. */
const CLEANED_LIMIT_MS = 30_000;

describe('The service with its files in an S3 store', function () {
  this.timeout(180_000);
  let s3: S3Service;
  let client: TestClient;
  let photo: Buffer;

  before(async () => {
    s3 = await s3Service();
    const organization = await s3.operator.newOrganization(50);
    client = new TestClient(s3.service.baseUrl, (await organization.newKey('live')).secret, await openApiCheck(s3.service.baseUrl));
    photo = await readFile(fixturePath('IMG_1054.JPG'));
  });

  const create = () => client.createJob(tasksOf('jpg', 'webp', { width: 64 }));

  /** Names of what lies in the bucket of a job. */
  async function objectsOf(jobId: string): Promise<readonly string[]> {
    const listings = await Promise.all(['source', 'result'].map((kind) => s3.bucket.client.send(new ListObjectsV2Command({ Bucket: s3.bucket.options.bucket, Prefix: `${kind}/${jobId}/` }))));
    return listings.flatMap(({ Contents = [] }) => Contents.map(({ Key = '' }) => Key));
  }

  it('converts what was uploaded by a link to the store, and links to the result there (§4.5, D18, D19)', async () => {
    const job = await create();
    expect(uploadUrlOf(job).startsWith(`${s3.bucket.options.endpoint}/`)).to.equal(true);
    const uploaded = await client.upload(job, photo);
    expect(uploaded.status).to.equal(200);
    const finished = await client.waitForStatus(job.id, 'finished', 'error');
    expect(finished, JSON.stringify(finished.error)).to.include({ status: 'finished', credits_used: 1 });
    const url = resultUrlOf(finished);
    expect(resultUrlOf(await client.readJob(job.id))).to.equal(url);
    const result = await client.send('GET', url);
    expect(readPicture(result.bytes)).to.include({ format: 'webp', width: 64 });
    expect(result.headers.get('content-type')).to.equal('image/webp');
    expect(result.headers.get('content-disposition')).to.equal(`inline; filename="${job.id}.webp"`);
    await waitFor('the source being removed', CLEANED_LIMIT_MS, async () => (await objectsOf(job.id)).join() === `result/${job.id}/1` || undefined);
  });

  it('converts the first file when another one is sent to the same link later (D46)', async () => {
    const job = await create();
    const other = await sharp({ create: { width: 300, height: 30, channels: 3, background: 'red' } }).jpeg().toBuffer();
    await client.upload(job, photo);
    const queued = await client.waitForStatus(job.id, 'queued', 'processing', 'finished', 'error');
    expect((await client.upload(job, other)).status).to.equal(200);
    const finished = await client.waitForStatus(queued.id, 'finished', 'error');
    expect(finished.status, JSON.stringify(finished.error)).to.equal('finished');
    const [was, is] = [readPicture(photo), readPicture((await client.send('GET', resultUrlOf(finished))).bytes)];
    const turned = ((await sharp(photo).metadata()).orientation ?? 1) >= 5;
    expect((is.height ?? 0) / (is.width ?? 1)).to.be.closeTo(turned ? (was.width ?? 0) / (was.height ?? 1) : (was.height ?? 0) / (was.width ?? 1), 0.02);
  });

  it('ends a job whose single upload was too long, and removes the file (D91)', async () => {
    const job = await create();
    expect((await client.upload(job, Buffer.alloc(SINGLE_UPLOAD_BYTES_MAX + 1))).status).to.equal(200);
    const ended = await client.waitForStatus(job.id, 'error', 'finished');
    expect(ended.error).to.deep.include({ code: 'file_too_large', details: { max_bytes: SINGLE_UPLOAD_BYTES_MAX } });
    expect(ended.credits_used).to.equal(0);
    await waitFor('the file being removed', CLEANED_LIMIT_MS, async () => (await objectsOf(job.id)).length === 0 || undefined);
  });

  it('converts a file that came in parts (§4.4)', async () => {
    const file = await makeLargePhoto();
    const job = await client.createJob(tasksOf('tiff', 'jpg', { width: 64 }));
    const upload = new MultipartUpload(client, job);
    const parts = await upload.send(file);
    expect(parts.length).to.be.greaterThan(1);
    const completed = await upload.complete(parts);
    expect([completed.status, completed.body]).to.deep.equal([200, { size_bytes: file.length }]);
    expect((await upload.complete(parts)).body).to.deep.equal({ size_bytes: file.length });
    const finished = await client.waitForStatus(job.id, 'finished', 'error');
    expect(finished.status, JSON.stringify(finished.error)).to.equal('finished');
    expect(readPicture((await client.send('GET', resultUrlOf(finished))).bytes)).to.include({ format: 'jpg', width: 64 });
  });

  it('converts a file that it fetched from a URL (§4.5)', async () => {
    s3.far.origin.on('/photo', serve(photo));
    const job = await client.createJob({ ...tasksOf('jpg', 'webp', { width: 64 }), 'import-1': { operation: 'import/url', url: s3.far.url('/photo') } });
    const finished = await client.waitForStatus(job.id, 'finished', 'error');
    expect(finished.status, JSON.stringify(finished.error)).to.equal('finished');
    expect(readPicture((await client.send('GET', resultUrlOf(finished))).bytes)).to.include({ format: 'webp', width: 64 });
  });

  it('refuses to complete what is not there, and forgets what was aborted (D43, D45)', async () => {
    const job = await create();
    const upload = new MultipartUpload(client, job);
    const { body } = await upload.start(SINGLE_UPLOAD_BYTES_MAX);
    const url = await upload.url(1);
    expect((await upload.complete([{ part_number: 1, etag: '"0123456789abcdef0123456789abcdef"' }])).status).to.equal(400);
    expect((await client.readJob(job.id)).status).to.equal('waiting');
    expect((await upload.abort()).status).to.equal(204);
    expect((await client.send('PUT', url, { body: Buffer.alloc(Math.min(body.part_size, SINGLE_UPLOAD_BYTES_MAX)) })).status).to.equal(404);
    await client.send('POST', `/v1/jobs/${job.id}/cancel`);
  });

  it('ends the link to a result with its job (§3, D36)', async () => {
    const job = await create();
    await client.upload(job, photo);
    const url = resultUrlOf(await client.waitForStatus(job.id, 'finished'));
    expect((await client.send('GET', url)).status).to.equal(200);
    expect((await client.send('DELETE', `/v1/jobs/${job.id}`)).status).to.equal(204);
    expect((await client.send('GET', url)).status).to.equal(404);
  });

  it('serves no files itself, and does not say that it does', async () => {
    const job = await create();
    for (const [method, path] of [['PUT', `/files/source/${job.id}`], ['GET', `/files/result/${job.id}/1`]] as const) {
      expect((await client.send(method, path, method === 'PUT' ? { body: 'x' } : {})).status).to.equal(404);
    }
    const { body } = await client.send<{ paths: Record<string, unknown> }>('GET', '/v1/openapi.json');
    expect(Object.keys(body.paths).filter((path) => path.startsWith('/files'))).to.deep.equal([]);
    await client.send('POST', `/v1/jobs/${job.id}/cancel`);
  });

  it('has charged what it should, and left nothing open in the store', async () => {
    await requireCleanAudit(s3.service);
    await waitFor('the sources being removed', CLEANED_LIMIT_MS, async () => {
      const { Contents = [] } = await s3.bucket.client.send(new ListObjectsV2Command({ Bucket: s3.bucket.options.bucket, Prefix: 'source/' }));
      return Contents.length === 0 || undefined;
    });
    expect((await s3.bucket.client.send(new ListMultipartUploadsCommand({ Bucket: s3.bucket.options.bucket }))).Uploads ?? []).to.deep.equal([]);
  });
});
