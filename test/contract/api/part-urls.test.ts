import { createHash, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { expect } from 'chai';
import type { JobView } from '../../../shared/domain/job-view.ts';
import { tasksOf, TestClient, type ErrorBody } from '../../support/client.ts';
import { fixturePath } from '../../support/fixtures.ts';
import { MultipartUpload, outcome, paths } from '../../support/multipart.ts';
import { openApiCheck } from '../../support/openapi-check.ts';
import { openOperator, type TestOperator } from '../../support/organization.ts';
import { sharedService } from '../../support/service.ts';

const PART_BYTES = 26_214_400;
const GIB = 1_073_741_824;
const ETAG = 'a'.repeat(32);

describe('URLs of parts (§4.4)', function () {
  this.timeout(180_000);
  let operator: TestOperator;
  let client: TestClient;
  let photo: Buffer;
  let job: JobView;
  let upload: MultipartUpload;

  before(async () => {
    const service = await sharedService();
    operator = await openOperator(service);
    const key = await (await operator.newOrganization(100)).newKey('live');
    client = new TestClient(service.baseUrl, key.secret, await openApiCheck(service.baseUrl));
    photo = await readFile(fixturePath('IMG_1054.JPG'));
  });
  beforeEach(async () => {
    job = await client.createJob(tasksOf('jpg', 'png', { width: 16 }));
    upload = new MultipartUpload(client, job);
  });
  after(() => operator.stop());

  it('are answered in the order of the request and valid for 15 minutes (§4.4, §4.4 POST /jobs/<job_id>/uploads/multipart/parts, §8, §8 upload url validity)', async () => {
    await upload.start(2 * PART_BYTES + 1);
    const { status, body } = await upload.urls([3, 1]);
    expect(status).to.equal(200);
    expect(body.parts.map(({ part_number }) => part_number)).to.deep.equal([3, 1]);
    for (const { expires_at } of body.parts) expect(Date.parse(expires_at) - Date.now()).to.be.within(880_000, 900_000);
    expect((await upload.urls([3])).status, 'may be requested again').to.equal(200);
  });

  it('are refused for numbers that the upload has not, with the path of each (D44)', async () => {
    await upload.start(2 * PART_BYTES);
    const cases: readonly (readonly [unknown, readonly string[]])[] = [
      [[0, 1, 3], ['part_numbers.0']], [[1, 3], ['part_numbers.1']], [[1, 2, 1], ['part_numbers.2']], [[], ['part_numbers']], [[1.5], ['part_numbers.0']], [['1'], ['part_numbers.0']],
      [1, ['part_numbers']], [undefined, ['part_numbers']], [Array.from({ length: 101 }, (_, index) => index + 1), ['part_numbers']],
    ];
    for (const [numbers, expected] of cases) {
      const answer = await upload.urls(numbers);
      expect([answer.status, paths(answer)], JSON.stringify(numbers)).to.deep.equal([400, expected]);
    }
  });

  it('are up to 100 in one request (§8 part urls per request, D44)', async () => {
    await upload.start(GIB);
    expect((await upload.urls(Array.from({ length: 41 }, (_, index) => 41 - index))).body.parts).to.have.length(41);
    // No file has more than 41 parts yet: of 100 numbers those are named that it has not, of 101 none is looked at.
    const [most, more] = [100, 101].map((length) => Array.from({ length }, (_, index) => index + 1));
    expect(paths(await upload.urls(most))).to.deep.equal(Array.from({ length: 59 }, (_, index) => `part_numbers.${index + 41}`));
    expect(paths(await upload.urls(more))).to.deep.equal(['part_numbers']);
  });

  it('take a part of exactly its size, and answer its ETag to pages of any origin (§4.4, D63)', async () => {
    await upload.start(photo.length);
    const url = await upload.url(1);
    const answer = await client.send('PUT', url, { body: photo, headers: { Origin: 'https://example.com' } });
    expect([answer.status, answer.headers.get('etag')]).to.deep.equal([200, `"${createHash('md5').update(photo).digest('hex')}"`]);
    expect(answer.headers.get('access-control-allow-origin')).to.equal('*');
    expect(answer.headers.get('access-control-expose-headers')).to.include('ETag');
    const preflight = await client.send('OPTIONS', url, { headers: { Origin: 'https://example.com', 'Access-Control-Request-Method': 'PUT' } });
    expect([preflight.status, preflight.headers.get('access-control-allow-methods')]).to.deep.equal([204, 'GET, HEAD, PUT']);
  });

  it('refuse a part of another length or of none, and leave nothing of it (§4.4, D45)', async () => {
    await upload.start(photo.length);
    const url = await upload.url(1);
    const short = await client.send<ErrorBody>('PUT', url, { body: photo.subarray(1) });
    expect(outcome(short)).to.deep.equal([400, 'validation_failed', { reason: 'wrong_part_size', size_bytes: photo.length }]);
    const long = await client.send<ErrorBody>('PUT', url, { body: Buffer.alloc(photo.length + 1) });
    expect(outcome(long)).to.deep.equal([413, 'file_too_large', { max_bytes: photo.length }]);
    expect(await putChunked(url, photo)).to.equal(411);
    const complete = await upload.complete([{ part_number: 1, etag: ETAG }]);
    expect([complete.status, paths(complete)]).to.deep.equal([400, ['parts.0.part_number']]);
  });

  it('are refused with 403 when anything in them is changed (D46)', async () => {
    await upload.start(photo.length);
    const url = await upload.url(1);
    for (const changed of [url.replace('/parts/1', '/parts/2'), url.replace(/size_bytes=\d+/, 'size_bytes=5'), url.replace(/upload=[^&]+/, `upload=${randomUUID()}`), url.replace(/expires=\d/, 'expires=9'), url.replace(/\?.*/, '')]) {
      expect(outcome(await client.send<ErrorBody>('PUT', changed, { body: 'x' })), changed).to.deep.equal([403, 'unauthorized', { reason: 'url_invalid' }]);
    }
    expect((await client.send('GET', url)).status).to.equal(405);
  });

  it('are dead after the upload was discarded, the job cancelled or the file complete (§4.4, D46)', async () => {
    await upload.start(photo.length);
    const discarded = await upload.url(1);
    await upload.abort();
    expect((await client.send('PUT', discarded, { body: photo })).status).to.equal(404);
    await upload.start(photo.length);
    expect((await client.send('PUT', discarded, { body: photo })).status, 'also while another one is open').to.equal(404);
    const url = await upload.url(1);
    expect((await upload.complete([await upload.put(1, photo)])).status).to.equal(200);
    expect((await client.send('PUT', url, { body: photo })).status).to.equal(409);
    const other = await client.createJob(tasksOf('jpg', 'png'));
    const cancelled = new MultipartUpload(client, other);
    await cancelled.start(photo.length);
    const dead = await cancelled.url(1);
    await client.send('POST', `/v1/jobs/${other.id}/cancel`);
    expect(outcome(await client.send<ErrorBody>('PUT', dead, { body: photo }))).to.deep.equal([409, 'validation_failed', { reason: 'not_waiting', status: 'cancelled' }]);
  });
});

/** A PUT that does not say how long it is. */
function putChunked(url: string, bytes: Buffer): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method: 'PUT', headers: { 'Transfer-Encoding': 'chunked' } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.on('error', reject);
    request.end(bytes);
  });
}
