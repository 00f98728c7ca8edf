import { readdir } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import type { JobView } from '../../../shared/domain/job-view.ts';
import { tasksOf, TestClient, uploadUrlOf, type ErrorBody } from '../../support/client.ts';
import { openApiCheck } from '../../support/openapi-check.ts';
import { openOperator, type TestOperator } from '../../support/organization.ts';
import { SHARED_UPLOAD_BYTES_MAX, sharedService, type TestService } from '../../support/service.ts';

/** What is written at once. */
const PART_BYTES = 65_536;

describe('Uploads', function () {
  this.timeout(120_000);
  let service: TestService;
  let operator: TestOperator;
  let client: TestClient;
  let job: JobView;

  before(async () => {
    service = await sharedService();
    operator = await openOperator(service);
    const key = await (await operator.newOrganization(50)).newKey('live');
    client = new TestClient(service.baseUrl, key.secret, await openApiCheck(service.baseUrl));
  });
  beforeEach(async () => {
    job = await client.createJob(tasksOf('jpg', 'png'));
  });
  after(() => operator.stop());

  it('answer with the entity tag, and may be read by pages of any origin (§4.5, §5.10)', async () => {
    const answer = await client.send('PUT', uploadUrlOf(job), { body: 'hello', headers: { Origin: 'https://example.com', 'Content-Type': 'image/jpeg' } });
    expect(answer.status).to.equal(200);
    expect(answer.headers.get('etag')).to.equal('"5d41402abc4b2a76b9719d911017c592"');
    expect(answer.headers.get('access-control-allow-origin')).to.equal('*');
    expect(answer.headers.get('access-control-expose-headers')).to.include('ETag');
  });

  it('are refused when anything in the URL is changed, or its method', async () => {
    const url = uploadUrlOf(job);
    const other = await client.createJob(tasksOf('jpg', 'png'));
    for (const changed of [url.replace(job.id, other.id), url.replace(/max_bytes=\d/, 'max_bytes=9'), url.replace(/expires=\d/, 'expires=9'), url.replace(/\?.*/, '')]) {
      expect((await client.send('PUT', changed, { body: 'x' })).status, changed).to.equal(404);
    }
    expect((await client.send('GET', url)).status).to.equal(405);
    expect((await client.readJob(job.id)).status).to.equal('waiting');
  });

  it('over the limit are refused at once, and leave the job waiting (§7 file_too_large 413, D46, D91)', async () => {
    // Several times: a connection that is closed under what is still being sent breaks only some of them.
    for (let round = 0; round < 5; round += 1) {
      const answer = await client.send<ErrorBody>('PUT', uploadUrlOf(job), { body: Buffer.alloc(2 * SHARED_UPLOAD_BYTES_MAX) });
      expect([answer.status, answer.body.error.code, answer.body.error.details]).to.deep.equal([413, 'file_too_large', { max_bytes: SHARED_UPLOAD_BYTES_MAX }]);
    }
    expect((await client.readJob(job.id)).status).to.equal('waiting');
  });

  it('over the limit that do not say their length are refused while they come in (D46)', async () => {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const request = httpRequest(uploadUrlOf(job), { method: 'PUT', headers: { 'Transfer-Encoding': 'chunked' } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      request.on('error', reject);
      for (let sent = 0; sent <= SHARED_UPLOAD_BYTES_MAX; sent += PART_BYTES) request.write(Buffer.alloc(PART_BYTES));
      request.end();
    });
    expect(status).to.equal(413);
    expect((await client.readJob(job.id)).status).to.equal('waiting');
  });

  it('that break off leave nothing, and may begin again', async () => {
    const { hostname, port, pathname, search } = new URL(uploadUrlOf(job));
    await new Promise<void>((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write(`PUT ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}\r\nContent-Length: 1000\r\n\r\nonly a part`, () => socket.destroy());
      });
      socket.once('close', () => resolve()).once('error', reject);
    });
    expect((await client.readJob(job.id)).status).to.equal('waiting');
    expect((await client.upload(job, Buffer.from('whole'))).status).to.equal(200);
  });

  it('after the file is bound are refused by 409 with the status (D46)', async () => {
    await client.upload(job, Buffer.from('no picture'));
    await client.waitForStatus(job.id, 'error');
    const answer = await client.send<ErrorBody>('PUT', uploadUrlOf(job), { body: 'other' });
    expect([answer.status, answer.body.error.code, answer.body.error.details]).to.deep.equal([409, 'validation_failed', { reason: 'not_waiting', status: 'error' }]);
  });

  it('of many at once let exactly one file win', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, (_, index) => client.send('PUT', uploadUrlOf(job), { body: `file ${index}` })));
    expect(answers.filter(({ status }) => status === 200)).to.have.length(1);
    expect(answers.filter(({ status }) => status === 409)).to.have.length(7);
  });

  it('to a job that was cancelled are refused by 409, to one that was deleted by 404 (D36)', async () => {
    await client.send('POST', `/v1/jobs/${job.id}/cancel`);
    expect((await client.upload(job, Buffer.from('x'))).status).to.equal(409);
    await client.send('DELETE', `/v1/jobs/${job.id}`);
    expect((await client.upload(job, Buffer.from('x'))).status).to.equal(404);
  });

  it('that end after the job was cancelled leave no file behind', async () => {
    const { hostname, port, pathname, search } = new URL(uploadUrlOf(job));
    const status = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write(`PUT ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}\r\nContent-Length: 4\r\n\r\nab`);
        // The part has to be on its way before the job is cancelled.
        void client.send('GET', `/v1/jobs/${job.id}?wait=1`).then(() => client.send('POST', `/v1/jobs/${job.id}/cancel`)).then(() => socket.write('cd'));
      });
      socket.setEncoding('utf8').once('data', (text: string) => {
        resolve(text.split('\r\n')[0] ?? '');
        socket.destroy();
      });
      socket.once('error', reject);
    });
    expect(status).to.equal('HTTP/1.1 409 Conflict');
    expect(await readdir(join(service.dataDir, 'objects/source'), { recursive: true })).not.to.satisfy((names: string[]) => names.some((name) => name.includes(job.id)));
  });
});
