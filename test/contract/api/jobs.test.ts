import { expect } from 'chai';
import { jetstreamManager } from '@nats-io/jetstream';
import { newId } from '../../../shared/ids/ids.ts';
import type { JobView } from '../../../shared/domain/job-view.ts';
import { tasksOf, TestClient, uploadUrlOf, type ErrorBody } from '../../support/client.ts';
import { openApiCheck, type OpenApiCheck } from '../../support/openapi-check.ts';
import { openOperator, type TestKey, type TestOperator, type TestOrganization } from '../../support/organization.ts';
import { sharedService, type TestService } from '../../support/service.ts';

type List = { readonly data: readonly JobView[]; readonly page: number; readonly per_page: number; readonly total: number };

async function balanceOf(client: TestClient): Promise<number> {
  return (await client.send<{ credits: { balance: number } }>('GET', '/v1/me')).body.credits.balance;
}

describe('Jobs over HTTP', function () {
  this.timeout(120_000);
  let service: TestService;
  let operator: TestOperator;
  let check: OpenApiCheck;

  before(async () => {
    service = await sharedService();
    operator = await openOperator(service);
    check = await openApiCheck(service.baseUrl);
  });
  after(() => operator.stop());

  async function newClient(credits = 20): Promise<{ client: TestClient; key: TestKey; organization: TestOrganization }> {
    const organization = await operator.newOrganization(credits);
    const key = await organization.newKey('live');
    return { client: new TestClient(service.baseUrl, key.secret, check), key, organization };
  }

  describe('creating', () => {
    it('answers 201 with the whole job and the only upload URL (§4.3 POST /jobs, D9)', async () => {
      const { client, key } = await newClient();
      const answer = await client.send<JobView>('POST', '/v1/jobs', { json: { tasks: tasksOf('JPEG', 'webp', { quality: 70, unknown: 1 }), tag: 't' } });
      const job = answer.body;
      expect(answer.status).to.equal(201);
      expect(answer.headers.get('location')).to.equal(`${service.baseUrl}/v1/jobs/${job.id}`);
      expect(job).to.deep.include({ status: 'waiting', mode: 'single', tag: 't', test_mode: false, testMode: false, credits_estimated: 1, api_key_id: key.id });
      expect(job).not.to.have.any.keys('credits_used', 'error');
      expect(job.createdAt).to.equal(job.created_at);
      expect(Date.parse(job.expires_at) - Date.parse(job.created_at)).to.equal(86_400_000);
      expect(job.tasks?.map(({ name, operation, status, credits }) => [name, operation, status, credits])).to.deep.equal([
        ['import-1', 'import/upload', 'waiting', 0],
        ['convert-1', 'convert', 'waiting', 0],
        ['export-1', 'export/url', 'waiting', 0],
      ]);
      expect(job.tasks?.[1]?.ignored_options).to.deep.equal(['unknown']);
      expect(new URL(uploadUrlOf(job)).pathname).to.equal(`/files/source/${job.id}`);
    });

    it('shows the upload URL nowhere else (§4.3 GET /jobs/<job_id>, §4.5, D18)', async () => {
      const { client } = await newClient();
      const job = await client.createJob(tasksOf('jpg', 'png'));
      const answers = [
        await client.send('GET', `/v1/jobs/${job.id}`),
        await client.send('GET', '/v1/jobs?include=tasks'),
        await client.send('POST', `/v1/jobs/${job.id}/cancel`),
      ];
      for (const { bytes } of answers) expect(bytes.toString()).to.include(job.id).and.not.to.include('uploadUrl');
    });

    it('keeps a job that names its tasks like the insides of JavaScript (D13)', async () => {
      const { client } = await newClient();
      const body = '{"tasks":{"2":{"operation":"export/url","input":"constructor"},"constructor":{"operation":"convert","input":"__proto__","input_format":"png","output_format":"jpg"},"__proto__":{"operation":"import/upload"}}}';
      const created = await client.send<JobView>('POST', '/v1/jobs', { body, headers: { 'Content-Type': 'application/json' } });
      expect(created.status).to.equal(201);
      expect((await client.readJob(created.body.id)).tasks?.map(({ name }) => name)).to.deep.equal(['__proto__', 'constructor', '2']);
    });

    it('answers 402 and creates nothing when the credits do not suffice (§7 insufficient_credits 402)', async () => {
      const { client } = await newClient(1);
      const job = await client.createJob(tasksOf('jpg', 'png'));
      const refused = await client.send<ErrorBody>('POST', '/v1/jobs', { json: { tasks: tasksOf('jpg', 'png') } });
      expect([refused.status, refused.body.error.code]).to.deep.equal([402, 'insufficient_credits']);
      expect(refused.body.error.details).to.include({ credits_required: 1, credits_available: 0 });
      expect(refused.body.error.details?.['pricing_url']).to.match(/^http/);
      const { body } = await client.send<List>('GET', '/v1/jobs');
      expect(body.data.map(({ id }) => id)).to.deep.equal([job.id]);
    });

    it('lets exactly as many of 100 parallel requests through as there are credits (D29)', async () => {
      const { client } = await newClient(10);
      const statuses = await Promise.all(Array.from({ length: 100 }, async () => (await client.send('POST', '/v1/jobs', { json: { tasks: tasksOf('jpg', 'png') } })).status));
      expect(statuses.filter((status) => status === 201)).to.have.length(10);
      expect(statuses.filter((status) => status === 402)).to.have.length(90);
      expect(await balanceOf(client)).to.equal(0);
    });

    it('holds nothing for a test key, whose balance may be empty (§5.3, D10)', async () => {
      const organization = await operator.newOrganization(0);
      const client = new TestClient(service.baseUrl, (await organization.newKey('test')).secret, check);
      expect(await client.createJob(tasksOf('jpg', 'png'))).to.include({ test_mode: true, credits_estimated: 1 });
    });

    it('answers what is wrong with a request in the envelope (§2.3.3, §7 unsupported_conversion 400, D22)', async () => {
      const { client } = await newClient();
      const bad = await client.send<ErrorBody>('POST', '/v1/jobs', { json: { tasks: { ...tasksOf('jpg', 'png'), 'export-1': {} } } });
      expect(bad.body.error.details?.['issues']).to.be.an('array').and.not.empty;
      const pair = await client.send<ErrorBody>('POST', '/v1/jobs', { json: { tasks: tasksOf('jpg', 'doc') } });
      expect(pair.body.error).to.deep.include({ code: 'unsupported_conversion', details: { input_format: 'jpg', output_format: 'doc' } });
      expect(await balanceOf(client)).to.equal(20);
    });
  });

  describe('reading and waiting', () => {
    it('refuses every wait that is not a whole number from 0 to 25, before it looks for the job (§4.3 GET /jobs/<job_id>, §8 long-poll wait, D1, D33, D75)', async () => {
      const { client } = await newClient();
      for (const wait of ['26', '-1', '1.5', '', 'x', '1e1', '0x10', ' 5', '5&wait=5', '99999999999999999999']) {
        const answer = await client.send<ErrorBody>('GET', `/v1/jobs/${newId(0)}?wait=${wait}`);
        expect([answer.status, answer.body.error.code], wait).to.deep.equal([400, 'validation_failed']);
        expect(JSON.stringify(answer.body.error.details), wait).to.include('"path":"wait"');
      }
      expect((await client.send('GET', `/v1/jobs/${newId(0)}?wait=25&other=1`)).status).to.equal(404);
    });

    it('answers at once without a wait, and when the job has ended (§4.3 GET /jobs/<job_id>, D33)', async () => {
      const { client } = await newClient();
      const job = await client.createJob(tasksOf('jpg', 'png'));
      const start = performance.now();
      await client.send('GET', `/v1/jobs/${job.id}?wait=0`);
      await client.send('POST', `/v1/jobs/${job.id}/cancel`);
      expect((await client.send<JobView>('GET', `/v1/jobs/${job.id}?wait=25`)).body.status).to.equal('cancelled');
      expect(performance.now() - start).to.be.lessThan(15_000);
    });

    it('answers the same job when the time is up (§4.3 GET /jobs/<job_id>)', async () => {
      const { client } = await newClient();
      const job = await client.createJob(tasksOf('jpg', 'png'));
      const start = performance.now();
      expect((await client.send<JobView>('GET', `/v1/jobs/${job.id}?wait=1`)).body.status).to.equal('waiting');
      expect(performance.now() - start).to.be.at.least(950);
    });

    it('wakes hundreds of waits by the change (§4.3 GET /jobs/<job_id>, D33)', async () => {
      const { organization, client } = await newClient();
      const clients: TestClient[] = [];
      while (clients.length < 5) clients.push(new TestClient(service.baseUrl, (await organization.newKey('live')).secret));
      const job = await client.createJob(tasksOf('jpg', 'png'));
      const waits = clients.flatMap((each) => Array.from({ length: 40 }, async () => {
        const { body } = await each.send<JobView>('GET', `/v1/jobs/${job.id}?wait=25`);
        return body.status;
      }));
      // The first wait that is answered early would end this; all of them are on their way when a read of ours is through.
      await client.send('GET', `/v1/jobs/${job.id}?wait=2`);
      const unchanged = await client.createJob(tasksOf('jpg', 'png'));
      // It stands for the end of their time, on a machine as busy as this one is.
      const patience = client.send('GET', `/v1/jobs/${unchanged.id}?wait=15`).then(() => 'nobody was woken' as const);
      await client.send('POST', `/v1/jobs/${job.id}/cancel`);
      const woken = await Promise.race([Promise.all(waits), patience]);
      expect(new Set(woken)).to.deep.equal(new Set(['cancelled']));
      await client.send('POST', `/v1/jobs/${unchanged.id}/cancel`);
      await patience;
    });

    it('gives its place back when a client goes away (D33)', async () => {
      const { client, key } = await newClient();
      const job = await client.createJob(tasksOf('jpg', 'png'));
      for (let round = 0; round < 3; round += 1) {
        const leaving = new AbortController();
        const left = Array.from({ length: 40 }, () => client.send('GET', `/v1/jobs/${job.id}?wait=20`, { signal: leaving.signal }).catch(() => undefined));
        await client.send('GET', `/v1/jobs/${job.id}?wait=1`);
        leaving.abort();
        await Promise.all(left);
      }
      // With 120 places never given back, this wait would find none and be answered at once.
      const start = performance.now();
      await new TestClient(service.baseUrl, key.secret).send('GET', `/v1/jobs/${job.id}?wait=1`);
      expect(performance.now() - start).to.be.greaterThan(950);
    });

    it('finds an upload of which nobody told it (§3.7, D32)', async () => {
      const { client } = await newClient();
      const job = await client.createJob(tasksOf('jpg', 'png'));
      const waiting = client.send<JobView>('GET', `/v1/jobs/${job.id}?wait=20`);
      await client.upload(job, Buffer.from('no picture'));
      expect((await waiting).body.status).to.equal('error');
    });
  });

  describe('cancelling and deleting', () => {
    it('cancels a waiting job, releases its credits, and refuses the second time (§3.1, §3.5, §4.3 POST /jobs/<job_id>/cancel, §7 validation_failed 409, D35)', async () => {
      const { client } = await newClient();
      const job = await client.createJob(tasksOf('jpg', 'png'));
      expect(await balanceOf(client)).to.equal(19);
      const cancelled = await client.send<JobView>('POST', `/v1/jobs/${job.id}/cancel`, { json: { any: 'body' } });
      expect([cancelled.status, cancelled.body.status, cancelled.body.credits_used]).to.deep.equal([200, 'cancelled', 0]);
      expect(cancelled.body.tasks?.map(({ status }) => status)).to.deep.equal(['cancelled', 'cancelled', 'cancelled']);
      expect(await balanceOf(client)).to.equal(20);
      const again = await client.send<ErrorBody>('POST', `/v1/jobs/${job.id}/cancel`);
      expect([again.status, again.body.error.code, again.body.error.details]).to.deep.equal([409, 'validation_failed', { reason: 'already_terminal', status: 'cancelled' }]);
    });

    it('deletes a job from every read at once, and forgets what was typed into it (§3.3, §4.3 DELETE /jobs/<job_id>, §7 not_found 404, D36)', async () => {
      const { client } = await newClient();
      const kept = await client.createJob(tasksOf('jpg', 'png'), { tag: 'kept' });
      const job = await client.createJob(tasksOf('jpg', 'png'), { tag: 'gone' });
      const deleted = await client.send('DELETE', `/v1/jobs/${job.id}`);
      expect([deleted.status, deleted.bytes.length]).to.deep.equal([204, 0]);
      const { body } = await client.send<List>('GET', '/v1/jobs');
      expect([body.total, body.data.map(({ id }) => id)]).to.deep.equal([1, [kept.id]]);
      for (const [method, suffix] of [['GET', ''], ['POST', '/cancel'], ['DELETE', '']] as const) {
        expect((await client.send(method, `/v1/jobs/${job.id}${suffix}`)).status).to.equal(404);
      }
      expect((await client.upload(job, Buffer.from('x'))).status).to.equal(404);
      expect(await balanceOf(client)).to.equal(19);
    });

    it('lets exactly one of many cancels and deletes decide (D30)', async () => {
      const { client } = await newClient();
      const job = await client.createJob(tasksOf('jpg', 'png'));
      const statuses = await Promise.all(Array.from({ length: 10 }, async () => (await client.send('POST', `/v1/jobs/${job.id}/cancel`)).status));
      expect(statuses.filter((status) => status === 200)).to.have.length(1);
      expect(statuses.filter((status) => status === 409)).to.have.length(9);
      const removed = await Promise.all(Array.from({ length: 10 }, async () => (await client.send('DELETE', `/v1/jobs/${job.id}`)).status));
      expect(removed.filter((status) => status === 204)).to.have.length(1);
      expect(await balanceOf(client)).to.equal(20);
    });
  });

  describe('listing', () => {
    it('knows every job at once, newest first, page by page (§4.3 GET /jobs, D48, D49)', async () => {
      const { client } = await newClient();
      const made: string[] = [];
      for (let count = 0; count < 5; count += 1) {
        made.unshift((await client.createJob(tasksOf('jpg', 'png'))).id);
        const { body } = await client.send<List>('GET', '/v1/jobs');
        expect(body.data.map(({ id }) => id)).to.deep.equal(made);
      }
      const { body } = await client.send<List>('GET', '/v1/jobs?page=2&per_page=2&unknown=1');
      expect([body.data.map(({ id }) => id), body.page, body.per_page, body.total]).to.deep.equal([made.slice(2, 4), 2, 2, 5]);
      expect((await client.send<List>('GET', '/v1/jobs?page=5000&per_page=100')).body).to.deep.equal({ data: [], page: 5_000, per_page: 100, total: 5 });
      expect((await client.send<List>('GET', '/v1/jobs?page=900000000')).body).to.deep.equal({ data: [], page: 900_000_000, per_page: 20, total: 5 });
    });

    it('filters by status, exact tag and key (§2.1, §4.3 GET /jobs, D48)', async () => {
      const { client, key, organization } = await newClient();
      const other = new TestClient(service.baseUrl, (await organization.newKey('live')).secret, check);
      const tagged = await client.createJob(tasksOf('jpg', 'png'), { tag: 'a b&c' });
      const cancelled = await client.createJob(tasksOf('jpg', 'png'), { tag: 'a b' });
      await client.send('POST', `/v1/jobs/${cancelled.id}/cancel`);
      const foreign = await other.createJob(tasksOf('jpg', 'png'));
      const list = async (query: string): Promise<readonly string[]> => (await client.send<List>('GET', `/v1/jobs?${query}`)).body.data.map(({ id }) => id);
      expect(await list('status=cancelled')).to.deep.equal([cancelled.id]);
      expect(await list('status=waiting')).to.deep.equal([foreign.id, tagged.id]);
      expect(await list(`tag=${encodeURIComponent('a b&c')}`)).to.deep.equal([tagged.id]);
      expect(await list('tag=a')).to.deep.equal([]);
      expect(await list(`api_key_id=${key.id}`)).to.deep.equal([cancelled.id, tagged.id]);
      expect(await list(`api_key_id=${newId(0)}`)).to.deep.equal([]);
      expect(await list(`api_key_id=${key.id}&status=waiting&tag=${encodeURIComponent('a b&c')}`)).to.deep.equal([tagged.id]);
    });

    it('adds tasks only when asked, and shows a job as reading it does (§2.1, §4.3 GET /jobs, D7)', async () => {
      const { client } = await newClient();
      const job = await client.createJob(tasksOf('jpg', 'png'), { tag: 'x' });
      const read = await client.readJob(job.id);
      expect((await client.send<List>('GET', '/v1/jobs?include=tasks')).body.data[0]).to.deep.equal(read);
      const { tasks: _tasks, ...bare } = read;
      expect((await client.send<List>('GET', '/v1/jobs')).body.data[0]).to.deep.equal(bare);
    });

    it('refuses what is out of range, all problems at once (§4.3 GET /jobs, §8 page size, D48)', async () => {
      const { client } = await newClient();
      for (const query of ['page=0', 'page=x', 'page=1.0', 'per_page=0', 'per_page=101', 'per_page=-1', 'status=done', 'status=', 'include=all', 'api_key_id=x', 'page=1&page=2', `tag=${'x'.repeat(256)}`]) {
        expect((await client.send('GET', `/v1/jobs?${query}`)).status, query).to.equal(400);
      }
      const { body } = await client.send<ErrorBody>('GET', '/v1/jobs?page=0&per_page=0&status=x');
      expect(body.error.details?.['issues']).to.have.length(3);
    });
  });

  it('leaves nothing readable of what a client typed in the log (D6, D18, D88)', async () => {
    const { client } = await newClient();
    const job = await client.createJob({ ...tasksOf('jpg', 'png', { quality: 61 }) }, { tag: 'secret-tag-of-mine' });
    const manager = await jetstreamManager(operator.nc, { checkAPI: false });
    const message = await manager.streams.getMessage('JOBS', { last_by_subj: `job.${job.id}.1.created` });
    const text = message?.string() ?? '';
    expect(text).to.include('"typed":"v1.').and.not.to.match(/secret-tag-of-mine|import-1|quality|signature|svc_live/);
  });
});
