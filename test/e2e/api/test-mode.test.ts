import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { JobView } from '../../../shared/domain/job-view.ts';
import { waitFor } from '../../../services/standalone/processes.ts';
import { resultUrlOf, tasksOf, TestClient, type Answer, type ErrorBody } from '../../support/client.ts';
import { fixturePath } from '../../support/fixtures.ts';
import { openApiCheck, type OpenApiCheck } from '../../support/openapi-check.ts';
import { openOperator, type TestOperator, type TestOrganization } from '../../support/organization.ts';
import { readPicture } from '../../support/pictures.ts';
import { sharedService, type TestService } from '../../support/service.ts';

type List = { readonly data: readonly JobView[]; readonly total: number };
const ANYTHING = Buffer.from('no picture at all');

describe('Test mode (§5.3, D65)', function () {
  this.timeout(120_000);
  let service: TestService;
  let operator: TestOperator;
  let check: OpenApiCheck;
  let organization: TestOrganization;
  let tester: TestClient;

  before(async () => {
    service = await sharedService();
    operator = await openOperator(service);
    check = await openApiCheck(service.baseUrl);
  });
  beforeEach(async () => {
    organization = await operator.newOrganization(3);
    tester = await newClient('test');
  });
  after(() => operator.stop());

  async function newClient(mode: 'live' | 'test'): Promise<TestClient> {
    return new TestClient(service.baseUrl, (await organization.newKey(mode)).secret, check);
  }

  async function balance(): Promise<number> {
    return (await tester.send<{ credits: { balance: number } }>('GET', '/v1/me')).body.credits.balance;
  }

  function post<Body>(tag: string, client = tester): Promise<Answer<Body>> {
    return client.send<Body>('POST', '/v1/jobs', { json: { tasks: tasksOf('jpg', 'webp'), tag } });
  }

  it('gives every file the same small result of the output format, and spends nothing (§2.1, D10)', async () => {
    const downloads: Buffer[] = [];
    for (const file of [ANYTHING, await readFile(fixturePath('IMG_1054.JPG'))]) {
      const job = await tester.createJob(tasksOf('jpg', 'avif'));
      expect(job).to.include({ status: 'waiting', test_mode: true, testMode: true, credits_estimated: 1 });
      await tester.upload(job, file);
      const finished = await tester.waitForStatus(job.id, 'finished', 'error');
      expect(finished).to.include({ status: 'finished', credits_used: 0, credits_estimated: 1 });
      expect(finished.tasks?.map(({ status, credits }) => [status, credits])).to.deep.equal([['finished', 0], ['finished', 0], ['finished', 0]]);
      const download = await tester.send('GET', resultUrlOf(finished));
      expect(download.headers.get('content-type')).to.equal('image/avif');
      downloads.push(download.bytes);
    }
    expect(readPicture(downloads[0] ?? Buffer.alloc(0))).to.include({ width: 16, height: 16 });
    expect(downloads[1]).to.deep.equal(downloads[0]);
    expect(await balance()).to.equal(3);
  });

  it('waits for its file, and shows its jobs to no live key (§5.4)', async () => {
    const job = await tester.createJob(tasksOf('jpg', 'webp'));
    expect((await tester.send<JobView>('GET', `/v1/jobs/${job.id}?wait=1`)).body.status).to.equal('waiting');
    const live = await newClient('live');
    for (const [method, path] of [['GET', ''], ['POST', '/cancel'], ['DELETE', '']] as const) expect((await live.send(method, `/v1/jobs/${job.id}${path}`)).status).to.equal(404);
    expect((await live.send<List>('GET', '/v1/jobs')).body.total).to.equal(0);
    expect((await tester.send<List>('GET', '/v1/jobs')).body.data.map(({ id }) => id)).to.deep.equal([job.id]);
  });

  it('ends as its tag says, where the real failure would, and shows the tag (§7)', async () => {
    const expected: Record<string, readonly [code: string, details: object, tasks: readonly string[]]> = {
      'test:fail=internal/system_error': ['internal', { reason: 'system_error', retryable: false }, ['finished', 'error', 'error']],
      'test:fail=internal/timeout': ['internal', { reason: 'timeout', cause: 'timeout', retryable: false }, ['finished', 'error', 'error']],
      'test:fail=file_too_large': ['file_too_large', {}, ['error', 'error', 'error']],
    };
    for (const [tag, [code, details, statuses]] of Object.entries(expected)) {
      const job = (await post<JobView>(tag)).body;
      expect(job.status).to.equal('waiting');
      await tester.upload(job, ANYTHING);
      const failed = await tester.waitForStatus(job.id, 'error', 'finished');
      expect(failed, tag).to.include({ status: 'error', credits_used: 0, tag });
      expect(failed.error?.code).to.equal(code);
      if (code === 'file_too_large') expect(failed.error?.details?.['max_bytes']).to.be.a('number');
      else expect(failed.error?.details).to.deep.equal(details);
      expect(failed.tasks?.map(({ status }) => status)).to.deep.equal(statuses);
    }
  });

  it('refuses to create a job as the real refusal would, and creates nothing (§7, §7 internal 500)', async () => {
    const expected: Record<string, readonly [status: number, code: string, details: object, retryAfter: string | null]> = {
      'test:fail=insufficient_credits': [402, 'insufficient_credits', { credits_required: 1, credits_available: 0, pricing_url: `${service.baseUrl}/v1/operations` }, null],
      'test:fail=unsupported_conversion': [400, 'unsupported_conversion', { input_format: 'jpg', output_format: 'webp' }, null],
      'test:fail=idempotency_conflict': [409, 'idempotency_conflict', { retry_after: 1 }, '1'],
      'test:fail=rate_limited/active_job_limit_reached': [429, 'rate_limited', { reason: 'active_job_limit_reached', limit: 5 }, null],
      'test:fail=internal': [500, 'internal', { retryable: false }, null],
      'test:fail=internal/credit_service_unavailable': [503, 'internal', { retryable: true, reason: 'credit_service_unavailable' }, '2'],
      'test:fail=internal/storage_unavailable': [503, 'internal', { retryable: true, reason: 'storage_unavailable' }, '2'],
    };
    for (const [tag, [status, code, details, retryAfter]] of Object.entries(expected)) {
      const answer = await post<ErrorBody>(tag);
      expect([answer.status, answer.body.error.code, answer.body.error.details, answer.headers.get('retry-after')], tag).to.deep.equal([status, code, details, retryAfter]);
    }
    expect((await tester.send<List>('GET', '/v1/jobs')).body.total).to.equal(0);
  });

  it('rehearses a budget that is used up, and uses up none (§8 rate limits 3)', async () => {
    const refused = await post<ErrorBody>('test:fail=rate_limited/key_rate_limited');
    const [limit, reset, retryAfter] = ['x-ratelimit-limit', 'x-ratelimit-reset', 'retry-after'].map((name) => Number(refused.headers.get(name)));
    expect([refused.status, refused.body.error.code, refused.headers.get('x-ratelimit-remaining')]).to.deep.equal([429, 'rate_limited', '0']);
    expect(refused.body.error.details).to.deep.equal({ reason: 'key_rate_limited', limit, reset });
    expect(retryAfter).to.be.within(1, 60);
    expect((await post('test:delay=0')).status).to.equal(201);
  });

  it('refuses the parts of an upload as too large where its tag says so (§3.9, §4.4)', async () => {
    const job = (await post<JobView>('test:fail=file_too_large')).body;
    const upload = await tester.send('POST', `/v1/jobs/${job.id}/uploads/multipart`, { json: { size_bytes: ANYTHING.length } });
    expect(upload.status).to.equal(201);
    const { body } = await tester.send<{ parts: readonly { url: string }[] }>('POST', `/v1/jobs/${job.id}/uploads/multipart/parts`, { json: { part_numbers: [1] } });
    const part = await tester.send('PUT', body.parts[0]?.url ?? '', { body: ANYTHING });
    for (let round = 0; round < 2; round += 1) {
      const complete = await tester.send<ErrorBody>('POST', `/v1/jobs/${job.id}/uploads/multipart/complete`, { json: { parts: [{ part_number: 1, etag: part.headers.get('etag') }] } });
      expect([complete.status, complete.body.error.code]).to.deep.equal([413, 'file_too_large']);
    }
    expect(await tester.readJob(job.id)).to.include({ status: 'error', credits_used: 0 }).and.have.nested.property('error.code', 'file_too_large');
  });

  function postUrl<Body>(url: string, tag?: string): Promise<Answer<Body>> {
    const { 'import-1': _upload, ...rest } = tasksOf('jpg', 'webp');
    return tester.send<Body>('POST', '/v1/jobs', { json: { tasks: { 'import-1': { operation: 'import/url', url }, ...rest }, ...(tag === undefined ? {} : { tag }) } });
  }

  it('imports from a URL without going there, to the same result (D94)', async () => {
    // Nobody answers under this name; an importer that went there would fail.
    const job = (await postUrl<JobView>('https://files.invalid/a.jpg')).body;
    const finished = await tester.waitForStatus(job.id, 'finished', 'error');
    expect(finished).to.include({ status: 'finished', credits_used: 0 });
    expect((await tester.send('GET', resultUrlOf(finished))).status).to.equal(200);
    for (const [url, reason] of [['http://files.invalid/a.jpg', 'not_https'], ['https://127.0.0.1/a.jpg', 'blocked_address'], ['https://u:p@files.invalid/a.jpg', 'invalid_url']] as const) {
      const refused = await postUrl<ErrorBody>(url, 'test:delay=1');
      expect([refused.status, refused.body.error.code, refused.body.error.details], url).to.deep.equal([400, 'url_import_failed', { reason }]);
    }
  });

  it('fails to import for every reason there is (§8 url import 5)', async () => {
    for (const reason of ['blocked_address', 'not_https', 'invalid_url', 'timeout', 'too_many_redirects', 'http_status', 'network']) {
      const created = await postUrl<JobView>('https://files.invalid/a.jpg', `test:fail=url_import_failed/${reason}`);
      expect(created.status, reason).to.equal(201);
      const failed = await tester.waitForStatus(created.body.id, 'error', 'finished');
      expect([failed.status, failed.error?.code, failed.error?.details, failed.credits_used], reason).to.deep.equal(['error', 'url_import_failed', { reason }, 0]);
      expect(failed.tasks?.map(({ status }) => status)).to.deep.equal(['error', 'error', 'error']);
    }
    const tooLarge = (await postUrl<JobView>('https://files.invalid/a.jpg', 'test:fail=file_too_large')).body;
    expect((await tester.waitForStatus(tooLarge.id, 'error', 'finished')).error?.code).to.equal('file_too_large');
  });

  it('answers 400 for what is no trigger, with what may be said', async () => {
    for (const tag of ['test:fail=unauthorized', 'test:delay=999999999', 'test:delay=1 x', 'test:fail=url_import_failed/timeout']) {
      const answer = await post<ErrorBody>(tag);
      expect([answer.status, answer.body.error.code], tag).to.deep.equal([400, 'validation_failed']);
      expect(answer.body.error.details, tag).to.have.nested.property('issues[0].path', 'tag');
      expect(answer.body.error.details, tag).to.have.nested.property('issues[0].message').that.includes('test:');
    }
  });

  it('takes the tag of a live key for a tag and nothing else', async () => {
    const live = await newClient('live');
    for (const tag of ['test:fail=insufficient_credits', 'test:nonsense']) {
      const answer = await post<JobView>(tag, live);
      expect([answer.status, answer.body.tag]).to.deep.equal([201, tag]);
    }
  });

  it('keeps a job in processing for the time that its tag says, through the death of a converter (§3)', async () => {
    const job = (await post<JobView>('test:delay=10000')).body;
    await tester.upload(job, ANYTHING);
    const processing = await tester.waitForStatus(job.id, 'processing');
    expect(processing.tasks?.map(({ status }) => status)).to.deep.equal(['finished', 'processing', 'waiting']);
    service.kill('converter');
    const cancel = await tester.send<ErrorBody>('POST', `/v1/jobs/${job.id}/cancel`);
    expect([cancel.status, cancel.body.error.details]).to.deep.equal([409, { reason: 'processing_cannot_be_cancelled', status: 'processing' }]);
    expect((await tester.send('DELETE', `/v1/jobs/${job.id}`)).status).to.equal(409);
    expect((await tester.waitForStatus(job.id, 'finished')).credits_used).to.equal(0);
    expect(Date.now() - Date.parse(job.created_at)).to.be.at.least(10_000);
    await service.untilReady();
  });

  it('keeps no live job waiting, however many test jobs are being processed', async () => {
    const slow = await Promise.all(Array.from({ length: 12 }, async () => {
      const job = (await post<JobView>('test:delay=300000')).body;
      await tester.upload(job, ANYTHING);
      await waitFor('the start of a simulation', 15_000, async () => ((await tester.readJob(job.id)).status === 'processing' ? true : undefined));
      return job;
    }));
    const live = await newClient('live');
    expect((await live.convert(await readFile(fixturePath('debian_logo.jpg')), tasksOf('jpg', 'png'))).status).to.equal('finished');
    const quick = await tester.convert(ANYTHING, tasksOf('jpg', 'png'));
    expect(quick.status).to.equal('finished');
    expect((await tester.readJob(slow[0]?.id ?? '')).status).to.equal('processing');
  });

  it('counts its jobs in the list by their status at once (D49)', async () => {
    const job = (await post<JobView>('test:delay=0')).body;
    await tester.upload(job, ANYTHING);
    await tester.waitForStatus(job.id, 'finished');
    expect((await tester.send<List>('GET', '/v1/jobs?status=finished')).body.total).to.equal(1);
  });
});
