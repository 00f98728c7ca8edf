import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { JobView } from '../../../shared/domain/job-view.ts';
import { resultKey } from '../../../shared/objects/keys.ts';
import type { ObjectStore } from '../../../shared/objects/object-store.ts';
import { waitFor } from '../../../services/standalone/processes.ts';
import { resultUrlOf, tasksOf, TestClient, type ErrorBody } from '../../support/client.ts';
import { fixturePath } from '../../support/fixtures.ts';
import { openApiCheck } from '../../support/openapi-check.ts';
import { openOperator, type TestOperator } from '../../support/organization.ts';
import { startService, type TestService } from '../../support/service.ts';
import { BUCKET_TAKES, openStoreOf, requireRefused } from '../../support/stored-files.ts';

type List = { readonly data: readonly JobView[]; readonly total: number };

/** Long enough for a conversion and an upload on a busy machine, short enough to wait for. */
const [RESULT_TTL_SECONDS, UPLOAD_WINDOW_SECONDS] = [8, 6];
const LIMIT_MS = 30_000;

function untilPast(time: string): Promise<true> {
  return waitFor('a deadline', LIMIT_MS, () => Date.now() > Date.parse(time) || undefined);
}

describe('Expiry while nobody sweeps (§3, D39, D40)', function () {
  this.timeout(180_000);
  let service: TestService;
  let operator: TestOperator;
  let client: TestClient;
  let objects: ObjectStore;

  before(async () => {
    service = await startService({ settings: { LOG_LEVEL: 'warn', UPLOAD_WINDOW_SECONDS: String(UPLOAD_WINDOW_SECONDS), RESULT_TTL_SECONDS: String(RESULT_TTL_SECONDS) } });
    operator = await openOperator(service);
    const organization = await operator.newOrganization(10);
    client = new TestClient(service.baseUrl, (await organization.newKey('live')).secret, await openApiCheck(service.baseUrl));
    objects = await openStoreOf(service);
  });
  afterEach(() => service.kill('importer', 'SIGCONT'));
  after(async () => {
    await operator.stop();
    await service.stop();
  });

  async function balance(): Promise<number> {
    return (await client.send<{ credits: { balance: number } }>('GET', '/v1/me')).body.credits.balance;
  }

  async function idsOf(status: string): Promise<readonly string[]> {
    const { data, total } = (await client.send<List>('GET', `/v1/jobs?status=${status}`)).body;
    expect(total).to.equal(data.length);
    return data.map(({ id }) => id);
  }

  async function eventsOf(jobId: string): Promise<readonly string[]> {
    return (await operator.accounts.store.load({ kind: 'job', id: jobId })).map(({ event }) => event.type);
  }

  it('a job that never got its file is expired for every read at its time, and gives its credits back by its event (§3.5, §3.13, D30)', async () => {
    service.kill('importer', 'SIGSTOP');
    const before = await balance();
    const job = await client.createJob(tasksOf('jpg', 'png'));
    expect(await idsOf('waiting')).to.include(job.id);
    await untilPast(new Date(Date.parse(job.created_at) + UPLOAD_WINDOW_SECONDS * 1000).toISOString());
    // Held until the end of the wait, it would take longer than the deadlines of this test.
    expect((await client.send<JobView>('GET', `/v1/jobs/${job.id}?wait=25`)).body).to.include({ status: 'expired', credits_used: 0 });
    expect(await idsOf('expired')).to.include(job.id);
    expect(await idsOf('waiting')).to.not.include(job.id);
    const cancel = await client.send<ErrorBody>('POST', `/v1/jobs/${job.id}/cancel`);
    expect([cancel.status, cancel.body.error.details]).to.deep.equal([409, { reason: 'already_terminal', status: 'expired' }]);
    // A bucket takes the file, and nobody ever looks at it.
    expect((await client.upload(job, Buffer.from('late'))).status).to.be.oneOf([409, ...BUCKET_TAKES]);
    const multipart = await client.send<ErrorBody>('POST', `/v1/jobs/${job.id}/uploads/multipart`, { json: { size_bytes: 10 } });
    expect([multipart.status, multipart.body.error.code]).to.deep.equal([409, 'validation_failed']);
    expect(await eventsOf(job.id)).to.deep.equal(['job.created']);
    service.kill('importer', 'SIGCONT');
    await waitFor('the event', LIMIT_MS, async () => (await eventsOf(job.id)).includes('job.expired') || undefined);
    await waitFor('the credits', LIMIT_MS, async () => (await balance()) === before || undefined);
    expect(await eventsOf(job.id)).to.deep.equal(['job.created', 'job.expired']);
  });

  it('a result is gone for reads, lists and downloads at its time, and from the store when the sweep comes (§3.12, D8)', async () => {
    const job = await client.convert(await readFile(fixturePath('debian_logo.jpg')), tasksOf('jpg', 'webp'));
    const url = resultUrlOf(job);
    service.kill('importer', 'SIGSTOP');
    expect((await client.send('GET', url)).status).to.equal(200);
    expect(await idsOf('finished')).to.deep.equal([job.id]);
    await untilPast(job.expires_at);
    requireRefused(await client.send('GET', url), { status: 404 });
    const expired = await client.readJob(job.id);
    expect(expired).to.include({ status: 'expired', credits_used: 1, expires_at: job.expires_at });
    expect(expired.tasks?.map(({ status, credits, result }) => [status, credits, result])).to.deep.equal([['finished', 0, undefined], ['finished', 1, undefined], ['expired', 0, undefined]]);
    expect(await idsOf('finished')).to.deep.equal([]);
    expect(await idsOf('expired')).to.include(job.id);
    expect(await objects.head(resultKey(job.id, 1)), 'nobody has swept yet').to.not.equal(undefined);
    expect((await eventsOf(job.id)).at(-1)).to.equal('job.finished');
    service.kill('importer', 'SIGCONT');
    await waitFor('the removal of the result', LIMIT_MS, async () => (await objects.head(resultKey(job.id, 1))) === undefined || undefined);
    expect((await eventsOf(job.id)).filter((type) => type === 'job.expired')).to.have.length(1);
    expect(await idsOf('expired')).to.include(job.id);
    expect(await client.readJob(job.id)).to.include({ status: 'expired', credits_used: 1 });
  });

  it('an expired job can be deleted before the sweep, which then has nothing left to do (§3.6)', async () => {
    service.kill('importer', 'SIGSTOP');
    const before = await balance();
    const job = await client.createJob(tasksOf('jpg', 'png'));
    await untilPast(new Date(Date.parse(job.created_at) + UPLOAD_WINDOW_SECONDS * 1000).toISOString());
    expect((await client.send('DELETE', `/v1/jobs/${job.id}`)).status).to.equal(204);
    expect(await idsOf('expired')).to.not.include(job.id);
    service.kill('importer', 'SIGCONT');
    await waitFor('the credits', LIMIT_MS, async () => (await balance()) === before || undefined);
    await client.createJob(tasksOf('jpg', 'png')).then(({ id }) => client.waitForStatus(id, 'expired'));
    expect(await eventsOf(job.id)).to.deep.equal(['job.created', 'job.deleted']);
    expect((await client.send('DELETE', `/v1/jobs/${job.id}`)).status).to.equal(404);
  });
});
