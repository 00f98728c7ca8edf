import { createHash, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { JobView } from '../../../shared/domain/job-view.ts';
import { MULTIPART_STARTS_MAX } from '../../../shared/domain/multipart.ts';
import { resultUrlOf, tasksOf, TestClient, type Answer, type ErrorBody } from '../../support/client.ts';
import { fixturePath } from '../../support/fixtures.ts';
import { MultipartUpload, outcome, paths } from '../../support/multipart.ts';
import { openApiCheck } from '../../support/openapi-check.ts';
import { openOperator, type TestOperator, type TestOrganization } from '../../support/organization.ts';
import { readPicture } from '../../support/pictures.ts';
import { sharedService, type TestService } from '../../support/service.ts';

const MIB = 2 ** 20;
const PART_BYTES = 26_214_400;
const GIB = 1_073_741_824;
const ETAG = 'a'.repeat(32);

describe('Multipart uploads (§4.4)', function () {
  this.timeout(180_000);
  let service: TestService;
  let operator: TestOperator;
  let organization: TestOrganization;
  let client: TestClient;
  let photo: Buffer;
  let job: JobView;
  let upload: MultipartUpload;

  before(async () => {
    service = await sharedService();
    operator = await openOperator(service);
    organization = await operator.newOrganization(100);
    client = new TestClient(service.baseUrl, (await organization.newKey('live')).secret, await openApiCheck(service.baseUrl));
    photo = await readFile(fixturePath('IMG_1054.JPG'));
  });
  beforeEach(async () => {
    job = await client.createJob(tasksOf('jpg', 'png', { width: 16 }));
    upload = new MultipartUpload(client, job);
  });
  after(() => operator.stop());

  describe('are started', () => {
    it('with a descriptor, and answer the same one again whatever the size (§2.5, §4.4, §4.4 POST /jobs/<job_id>/uploads/multipart, §8 multipart part size, D42, D43)', async () => {
      const first = await upload.start(2 * PART_BYTES + 1);
      expect(first.status).to.equal(201);
      expect(first.body).to.include({ part_size: PART_BYTES, parts_expected: 3 });
      for (const size of [2 * PART_BYTES + 1, 5, 2 * GIB]) {
        const again = await upload.start(size);
        expect([again.status, again.body]).to.deep.equal([200, first.body]);
      }
      expect((await client.readJob(job.id)).status).to.equal('waiting');
    });

    it('once, although many start at once (D43)', async () => {
      const answers = await Promise.all(Array.from({ length: 6 }, () => upload.start(100)));
      expect(answers.filter(({ status }) => status === 201)).to.have.length(1);
      expect(answers.filter(({ status }) => status === 200)).to.have.length(5);
      expect(new Set(answers.map(({ body }) => body.upload_id)).size).to.equal(1);
    });

    it('over the limit with 413, and the job stays waiting (§8, §8 maximum input size, D43, D98)', async () => {
      const answer = await upload.start(GIB + 1);
      expect(outcome(answer)).to.deep.equal([413, 'file_too_large', { max_bytes: GIB }]);
      expect((await client.readJob(job.id)).status).to.equal('waiting');
      expect((await upload.start(GIB)).body.parts_expected).to.equal(41);
    });

    it('never with a size that is no size (§4.4)', async () => {
      for (const size of [0, -1, 1.5, '100', null, undefined, true, 2 ** 60]) {
        const answer = await upload.start(size);
        expect([answer.status, paths(answer)], String(size)).to.deep.equal([400, ['size_bytes']]);
      }
    });

    it('only for jobs that wait; others answer 409 with reason and status (§4.4, D43)', async () => {
      await client.send('POST', `/v1/jobs/${job.id}/cancel`);
      expect(outcome(await upload.start(100))).to.deep.equal([409, 'validation_failed', { reason: 'already_terminal', status: 'cancelled' }]);
      expect(outcome(await upload.start(2 * GIB)), 'a size over the limit is said first').to.deep.equal([413, 'file_too_large', { max_bytes: GIB }]);
      await client.send('DELETE', `/v1/jobs/${job.id}`);
      expect(outcome(await upload.start(100))).to.deep.equal([404, 'not_found', undefined]);
    });
  });

  describe('are completed', () => {
    it('into the file that is converted by itself, and answered the same for ever (§3, §3.8, §4.4, §4.4 POST /jobs/<job_id>/uploads/multipart/complete, D45)', async () => {
      const parts = await upload.send(photo);
      expect(parts[0]?.etag).to.match(/^"[0-9a-f]{32}"$/);
      const first = await upload.complete(parts);
      expect([first.status, first.body]).to.deep.equal([200, { size_bytes: photo.length }]);
      const again = await upload.complete(parts);
      expect([again.status, again.body]).to.deep.equal([200, { size_bytes: photo.length }]);
      const finished = await client.waitForStatus(job.id, 'finished', 'error');
      expect(finished).to.include({ status: 'finished', credits_used: 1 });
      expect(readPicture((await client.send('GET', resultUrlOf(finished))).bytes)).to.include({ format: 'png', width: 16 });
      const late = await upload.complete(parts.map(({ part_number, etag }) => ({ part_number, etag: etag.replaceAll('"', '') })));
      expect([late.status, late.body]).to.deep.equal([200, { size_bytes: photo.length }]);
      expect((await upload.complete([{ part_number: 1, etag: ETAG }])).status, 'other parts are no repeat').to.equal(400);
      expect(outcome(await upload.start(photo.length))).to.deep.equal([409, 'validation_failed', { reason: 'already_terminal', status: 'finished' }]);
    });

    it('once, although many complete at once (D45)', async () => {
      const parts = await upload.send(photo);
      const answers = await Promise.all(Array.from({ length: 6 }, () => upload.complete(parts)));
      expect(answers.map(({ status, body }) => [status, body])).to.deep.equal(Array.from({ length: 6 }, () => [200, { size_bytes: photo.length }]));
      expect((await client.waitForStatus(job.id, 'finished', 'error')).status).to.equal('finished');
    });

    it('and answered the same also when the file then turns out to be none (D45)', async () => {
      const parts = await upload.send(Buffer.from('no picture'));
      expect((await upload.complete(parts)).status).to.equal(200);
      expect((await client.waitForStatus(job.id, 'error')).error?.details).to.include({ cause: 'not_what_it_claims' });
      const again = await upload.complete(parts);
      expect([again.status, again.body]).to.deep.equal([200, { size_bytes: 10 }]);
    });

    it('only with every part, once and as it was uploaded; the job stays waiting (D45)', async () => {
      await upload.start(PART_BYTES + 1);
      const last = await upload.put(2, Buffer.from('x'));
      const first = { part_number: 1, etag: ETAG };
      const cases: readonly (readonly [unknown, readonly string[]])[] = [
        [[], ['parts', 'parts']], [[first], ['parts']], [[last], ['parts']], [[last, first], ['parts.1.part_number']], [[first, first, last], ['parts.1.part_number']],
        [[first, last, { part_number: 3, etag: ETAG }], ['parts.2.part_number']], [[{ part_number: 0, etag: ETAG }], ['parts.0.part_number']],
        [[{ part_number: 1, etag: 'W/"x"' }, last], ['parts.0.etag']], [[{ part_number: 1 }, last], ['parts.0.etag']], [['x'], ['parts.0']], [{}, ['parts']], [undefined, ['parts']],
        [[first, last], ['parts.0.part_number']], [[first, { part_number: 2, etag: ETAG }], ['parts.0.part_number', 'parts.1.etag']],
      ];
      for (const [parts, expected] of cases) {
        const answer = await upload.complete(parts);
        expect([answer.status, paths(answer)], JSON.stringify(parts)).to.deep.equal([400, expected]);
      }
      expect((await client.readJob(job.id)).status).to.equal('waiting');
    });

    it('with the parts in whatever order a client lists them (§4.4)', async () => {
      await upload.start(PART_BYTES + 1);
      const last = await upload.put(2, Buffer.from('x'));
      const first = await upload.put(1, Buffer.alloc(PART_BYTES));
      for (const parts of [[last, first], [first, last]]) expect((await upload.complete(parts)).body).to.deep.equal({ size_bytes: PART_BYTES + 1 });
    });

    it('with the part that was sent last, when one was sent again (D45)', async () => {
      await upload.start(photo.length);
      const spoiled = await upload.put(1, Buffer.alloc(photo.length));
      const good = await upload.put(1, photo);
      const answer = await upload.complete([spoiled]);
      expect([answer.status, paths(answer)]).to.deep.equal([400, ['parts.0.etag']]);
      expect((await upload.complete([good])).status).to.equal(200);
      expect((await client.waitForStatus(job.id, 'finished', 'error')).status).to.equal('finished');
    });

    it('unless the single upload was whole first, which then counts (D46)', async () => {
      const parts = await upload.send(Buffer.from('no picture'));
      expect((await client.upload(job, photo)).status).to.equal(200);
      const answer = await upload.complete(parts);
      expect(answer.status).to.equal(409);
      expect(answer.body.error.details?.['reason']).to.be.oneOf(['already_uploaded', 'not_waiting', 'already_terminal']);
      expect(answer.body.error.details).to.have.property('status');
      expect((await client.waitForStatus(job.id, 'finished', 'error')).status).to.equal('finished');
    });

    it('and then refuse the single upload with 409 (D46)', async () => {
      await upload.complete(await upload.send(photo));
      expect((await client.upload(job, Buffer.from('other'))).status).to.equal(409);
      expect((await client.waitForStatus(job.id, 'finished', 'error')).status).to.equal('finished');
    });
  });

  describe('are discarded', () => {
    it('with 204, once, and may be started again or replaced by the single upload (§4.4, §4.4 POST /jobs/<job_id>/uploads/multipart/abort, D44)', async () => {
      const { body: first } = await upload.start(photo.length);
      await upload.put(1, photo);
      const aborted = await upload.abort();
      expect([aborted.status, aborted.bytes.length]).to.deep.equal([204, 0]);
      expect(outcome((await upload.abort()) as Answer<ErrorBody>)).to.deep.equal([400, 'validation_failed', { reason: 'multipart_not_started' }]);
      const again = await upload.start(2 * MIB);
      expect(again.status).to.equal(201);
      expect(again.body.upload_id).to.not.equal(first.upload_id);
      expect((await upload.complete([{ part_number: 1, etag: createHash('md5').update(photo).digest('hex') }])).status, 'parts of the first are gone').to.equal(400);
      await upload.abort();
      expect((await client.upload(job, photo)).status).to.equal(200);
      expect((await client.waitForStatus(job.id, 'finished', 'error')).status).to.equal('finished');
    });

    it('not any more once they are complete', async () => {
      await upload.complete(await upload.send(photo));
      const answer = (await upload.abort()) as Answer<ErrorBody>;
      expect([answer.status, answer.body.error.code]).to.deep.equal([409, 'validation_failed']);
      expect((await client.waitForStatus(job.id, 'finished', 'error')).status).to.equal('finished');
    });
  });

  it('are started at most 20 times for one job, which then still takes the single upload (§4.4, D43)', async () => {
    for (let start = 1; start <= MULTIPART_STARTS_MAX; start += 1) {
      expect((await upload.start(photo.length)).status, `start ${start}`).to.equal(201);
      expect((await upload.abort()).status).to.equal(204);
    }
    expect(outcome(await upload.start(photo.length))).to.deep.equal([409, 'validation_failed', { reason: 'too_many_multipart_starts', status: 'waiting' }]);
    expect((await client.upload(job, photo)).status).to.equal(200);
    expect((await client.waitForStatus(job.id, 'finished', 'error')).status).to.equal('finished');
  });

  it('are not for jobs whose file is fetched from a URL (§4.4, D43)', async () => {
    const fetched = await client.createJob({ ...tasksOf('jpg', 'png'), 'import-1': { operation: 'import/url', url: 'https://files.invalid/photo.jpg' } });
    const refused = new MultipartUpload(client, fetched);
    for (const size of [100, 2 * GIB]) expect(outcome(await refused.start(size))).to.deep.equal([400, 'validation_failed', { reason: 'not_an_upload' }]);
    expect(outcome(await refused.urls([1]))).to.deep.equal([400, 'validation_failed', { reason: 'multipart_not_started' }]);
  });

  it('need a start before everything else (§4.4, D44)', async () => {
    for (const answer of [await upload.urls([1]), await upload.complete([{ part_number: 1, etag: ETAG }]), (await upload.abort()) as Answer<ErrorBody>]) {
      expect(outcome(answer)).to.deep.equal([400, 'validation_failed', { reason: 'multipart_not_started' }]);
    }
  });

  it('are for keys with job.write of the same organization and mode (§4.3, §5, D1, D3)', async () => {
    const check = await openApiCheck(service.baseUrl);
    const keys = {
      reader: (await organization.newKey('live', { scopes: ['job.read'] })).secret,
      test: (await organization.newKey('test')).secret,
      stranger: (await (await operator.newOrganization(5)).newKey('live')).secret,
    };
    await upload.start(photo.length);
    for (const [name, secret] of Object.entries(keys)) {
      const other = new MultipartUpload(new TestClient(service.baseUrl, secret, check), job);
      const answers = [await other.start(5), await other.urls([1]), await other.complete([{ part_number: 1, etag: ETAG }]), (await other.abort()) as Answer<ErrorBody>];
      const expected = name === 'reader' ? [403, 'forbidden_scope', { required_scope: 'job.write' }] : [404, 'not_found', undefined];
      for (const answer of answers) expect(outcome(answer), name).to.deep.equal(expected);
    }
    const unknown = new MultipartUpload(client, { id: randomUUID() });
    expect((await unknown.start(0)).status, 'the body is checked before the job').to.equal(400);
    expect((await unknown.start(1)).status).to.equal(404);
    expect((await new MultipartUpload(client, { id: 'no-uuid' }).start(1)).status).to.equal(404);
  });
});
