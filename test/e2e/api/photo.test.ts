import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import sharp from 'sharp';
import { resultUrlOf, tasksOf, TestClient, type Answer } from '../../support/client.ts';
import { fixturePath } from '../../support/fixtures.ts';
import { openApiCheck } from '../../support/openapi-check.ts';
import { openOperator, type TestOperator } from '../../support/organization.ts';
import { sharedService, type TestService } from '../../support/service.ts';
import { describeOwnLinks } from '../../support/stored-files.ts';

describe('A photograph on its way through the API', function () {
  this.timeout(120_000);
  let service: TestService;
  let operator: TestOperator;
  let client: TestClient;
  let photo: Buffer;

  before(async () => {
    service = await sharedService();
    operator = await openOperator(service);
    const organization = await operator.newOrganization(10);
    client = new TestClient(service.baseUrl, (await organization.newKey('live')).secret, await openApiCheck(service.baseUrl));
    photo = await readFile(fixturePath('IMG_1054.JPG'));
  });
  after(() => operator.stop());

  async function balance(): Promise<number> {
    const answer = await client.send<{ credits: { balance: number } }>('GET', '/v1/me');
    return answer.body.credits.balance;
  }

  it('is created, uploaded, converted, downloaded and charged to the unit (§2.7, §3.11, §4.5, D16)', async () => {
    const before = await balance();
    const created = await client.createJob(tasksOf('jpg', 'webp', { width: 640 }), { tag: 'holiday' });
    expect(created.status).to.equal('waiting');
    expect(await balance()).to.equal(before - 1);
    expect((await client.upload(created, photo)).status).to.equal(200);

    const finished = await client.waitForStatus(created.id, 'finished', 'error');
    expect(finished).to.include({ status: 'finished', tag: 'holiday', credits_used: 1 });
    expect(finished.tasks?.map(({ status, credits }) => [status, credits])).to.deep.equal([['finished', 0], ['finished', 1], ['finished', 0]]);

    const download = await client.send('GET', resultUrlOf(finished));
    expect(download.headers.get('content-type')).to.equal('image/webp');
    expect(await sharp(download.bytes).metadata()).to.include({ format: 'webp', width: 640 });
    expect(await balance()).to.equal(before - 1);
  });

  describeOwnLinks('the download', () => {
    let url: string;
    let whole: Answer;

    before(async () => {
      const job = await client.convert(photo, tasksOf('jpg', 'png', { width: 64 }));
      url = resultUrlOf(job);
      whole = await client.send('GET', url);
    });

    it('carries what keeps a browser from running it (D92)', () => {
      expect(whole.headers.get('x-content-type-options')).to.equal('nosniff');
      expect(whole.headers.get('content-security-policy')).to.match(/^sandbox/);
      expect(whole.headers.get('content-disposition')).to.match(/^inline; filename="[0-9a-f-]{36}\.png"$/);
      expect(whole.headers.get('access-control-allow-origin')).to.equal('*');
      expect(whole.headers.get('access-control-expose-headers')).to.include('ETag');
    });

    it('gives one range, its end, and says what cannot be given', async () => {
      const first = await client.send('GET', url, { headers: { Range: 'bytes=2-5' } });
      expect(first.status).to.equal(206);
      expect(first.bytes).to.deep.equal(whole.bytes.subarray(2, 6));
      expect(first.headers.get('content-range')).to.equal(`bytes 2-5/${whole.bytes.length}`);
      expect(first.headers.get('content-type')).to.equal('image/png');
      const last = await client.send('GET', url, { headers: { Range: 'bytes=-3' } });
      expect(last.bytes).to.deep.equal(whole.bytes.subarray(-3));
      const beyond = await client.send('GET', url, { headers: { Range: `bytes=${whole.bytes.length}-` } });
      expect(beyond.status).to.equal(416);
      expect(beyond.headers.get('content-range')).to.equal(`bytes */${whole.bytes.length}`);
    });

    it('gives the whole file when If-Range names another one, and nothing when the client has it', async () => {
      const etag = whole.headers.get('etag') ?? '';
      expect((await client.send('GET', url, { headers: { Range: 'bytes=0-1', 'If-Range': '"other"' } })).status).to.equal(200);
      expect((await client.send('GET', url, { headers: { Range: 'bytes=0-1', 'If-Range': etag } })).status).to.equal(206);
      expect((await client.send('GET', url, { headers: { 'If-None-Match': etag } })).status).to.equal(304);
    });

    it('answers HEAD with the same headers and no body', async () => {
      const head = await client.send('HEAD', url);
      expect(head.status).to.equal(200);
      expect(head.bytes).to.have.length(0);
      for (const name of ['content-type', 'content-length', 'etag', 'content-disposition']) expect(head.headers.get(name), name).to.equal(whole.headers.get(name));
    });

    it('is refused by 404 when anything in its URL is changed', async () => {
      for (const changed of [url.replace(/.$/, 'x'), url.replace('image%2Fpng', 'text%2Fhtml'), url.replace(/expires=\d/, 'expires=9'), url.replace(/\?.*/, ''), `${url}&a=b`, url.replace('/1?', '/2?')]) {
        expect((await client.send('GET', changed)).status, changed).to.equal(404);
      }
    });

    it('is 404 as soon as the job is deleted (§3.6, D36)', async () => {
      const job = await client.convert(photo, tasksOf('jpg', 'webp', { width: 32 }));
      const link = resultUrlOf(job);
      expect((await client.send('GET', link)).status).to.equal(200);
      expect((await client.send('DELETE', `/v1/jobs/${job.id}`)).status).to.equal(204);
      expect((await client.send('GET', link)).status).to.equal(404);
    });
  });

  it('that is no photograph ends as an error that helps, and costs nothing (§3.11, D12, D38)', async () => {
    const before = await balance();
    const job = await client.convert(Buffer.from('this is text'), tasksOf('jpg', 'png'));
    expect(job).to.include({ status: 'error', credits_used: 0 });
    expect(job.error?.details).to.deep.equal({ reason: 'system_error', cause: 'not_what_it_claims', retryable: false });
    expect(job.error).not.to.have.property('request_id');
    expect(job.tasks?.map(({ credits }) => credits)).to.deep.equal([0, 0, 0]);
    expect(await balance()).to.equal(before);
  });

  it('sent with a test key goes the same way and is never charged (§5.3, D10)', async () => {
    const organization = await operator.newOrganization(0);
    const key = await organization.newKey('test');
    const tester = new TestClient(service.baseUrl, key.secret, await openApiCheck(service.baseUrl));
    const job = await tester.convert(photo, tasksOf('jpg', 'webp', { width: 32 }));
    expect(job).to.include({ status: 'finished', test_mode: true, testMode: true, credits_estimated: 1, credits_used: 0 });
  });
});
