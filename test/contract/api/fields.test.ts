import { expect } from 'chai';
import type { JobView } from '../../../shared/domain/job-view.ts';
import { JOB_STATUSES } from '../../../shared/domain/job-state.ts';
import { resultUrlOf, tasksOf, TestClient, uploadUrlOf, type ErrorBody } from '../../support/client.ts';
import { MultipartUpload } from '../../support/multipart.ts';
import { openOperator, type TestKey, type TestOperator, type TestOrganization } from '../../support/organization.ts';
import { makeDot } from '../../support/pictures.ts';
import { sharedService, type TestService } from '../../support/service.ts';

type Check = (value: unknown) => boolean;
/** What a field may be, by its name; an answer has these fields and no others. */
type Fields = Readonly<Record<string, Check>>;

const DAY_MS = 86_400_000;
const PART_BYTES = 26_214_400;

const isText: Check = (value) => typeof value === 'string' && value !== '';
const isUuid: Check = (value) => typeof value === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value);
const isTime: Check = (value) => typeof value === 'string' && new Date(value).toISOString() === value;
const isWhole: Check = (value) => Number.isInteger(value) && Number(value) >= 0;
const isUrl: Check = (value) => typeof value === 'string' && /^https?:/.test(value);
const isOneOf = (...values: readonly unknown[]): Check => (value) => values.includes(value);

/** Of every job, wherever it is answered. */
const JOB: Fields = {
  id: isUuid, status: isOneOf(...JOB_STATUSES), mode: isOneOf('single'), testMode: isOneOf(true, false), test_mode: isOneOf(true, false), credits_estimated: isWhole,
  createdAt: isTime, created_at: isTime, expires_at: isTime, api_key_id: isUuid,
};
const TASK: Fields = { name: isText, operation: isText, status: isOneOf(...JOB_STATUSES), credits: isWhole };

function requireFields(value: object | undefined, fields: Fields): void {
  expect(Object.keys(value ?? {})).to.have.members(Object.keys(fields));
  for (const [name, given] of Object.entries(value ?? {})) expect(fields[name]?.(given), `${name}: ${JSON.stringify(given)}`).to.equal(true);
}

function requireJob(job: JobView, more: Fields): void {
  requireFields(job, { ...JOB, tasks: Array.isArray, ...more });
  expect([job.testMode, job.createdAt]).to.deep.equal([job.test_mode, job.created_at]);
}

describe('The fields of answers', function () {
  this.timeout(120_000);
  let service: TestService;
  let operator: TestOperator;
  let organization: TestOrganization;
  let key: TestKey;
  let client: TestClient;
  let tester: TestClient;

  before(async () => {
    service = await sharedService();
    operator = await openOperator(service);
    organization = await operator.newOrganization(20);
    key = await organization.newKey('live');
    client = new TestClient(service.baseUrl, key.secret);
    tester = new TestClient(service.baseUrl, (await organization.newKey('test')).secret);
  });
  after(() => operator.stop());

  it('of a job are these and no others, from its creation to each of its ends (§2.1, §9.2, §9.5, D5, D6, D7, D8, D9)', async () => {
    const created = await client.createJob(tasksOf('jpg', 'png'), { tag: 'mine' });
    requireJob(created, { tag: isOneOf('mine') });
    expect(created).to.include({ status: 'waiting', test_mode: false, api_key_id: key.id });
    requireJob(await client.createJob(tasksOf('jpg', 'png')), {});
    await client.upload(created, await makeDot());
    const finished = await client.waitForStatus(created.id, 'finished', 'error');
    requireJob(finished, { tag: isOneOf('mine'), credits_used: isWhole });
    expect([finished.status, finished.id, finished.created_at, finished.api_key_id]).to.deep.equal(['finished', created.id, created.created_at, key.id]);
    expect(finished.credits_used).to.be.at.most(finished.credits_estimated);
    const failed = await client.convert(Buffer.from('no picture'), tasksOf('jpg', 'png'));
    requireJob(failed, { credits_used: isOneOf(0), error: (error) => typeof error === 'object' });
    requireFields(failed.error, { code: isText, message: isText, details: (details) => typeof details === 'object' });
    const { id } = await tester.createJob(tasksOf('jpg', 'png'));
    const cancelled = (await tester.send<JobView>('POST', `/v1/jobs/${id}/cancel`)).body;
    requireJob(cancelled, { credits_used: isOneOf(0) });
    expect(cancelled).to.include({ status: 'cancelled', test_mode: true });
    const { data } = (await client.send<{ data: readonly JobView[] }>('GET', '/v1/jobs?status=finished')).body;
    expect(data).to.have.length(1);
    requireFields(data[0], { ...JOB, tag: isOneOf('mine'), credits_used: isWhole });
  });

  it('of a task are these and no others, with a result on the import once and on the export at the end (§2.2, D16, D17, D18, D19)', async () => {
    const created = await client.createJob(tasksOf('jpg', 'png'));
    expect(created.tasks?.map(({ name, operation, credits }) => [name, operation, credits])).to.deep.equal([['import-1', 'import/upload', 0], ['convert-1', 'convert', 0], ['export-1', 'export/url', 0]]);
    const [source, convert, exported] = created.tasks ?? [];
    requireFields(source, { ...TASK, result: (result) => typeof result === 'object' });
    requireFields(source?.result, { uploadUrl: isUrl });
    for (const task of [convert, exported, ...((await client.readJob(created.id)).tasks ?? [])]) requireFields(task, TASK);
    await client.upload(created, await makeDot());
    const finished = await client.waitForStatus(created.id, 'finished', 'error');
    const [importedAtEnd, convertedAtEnd, exportedAtEnd] = finished.tasks ?? [];
    requireFields(importedAtEnd, TASK);
    requireFields(convertedAtEnd, { ...TASK, credits: isOneOf(finished.credits_used) });
    requireFields(exportedAtEnd, { ...TASK, result: (result) => typeof result === 'object' });
    requireFields(exportedAtEnd?.result, { url: isUrl, urlExpiresAt: isOneOf(finished.expires_at) });
    const fetched = await tester.createJob({ ...tasksOf('jpg', 'png'), 'import-1': { operation: 'import/url', url: 'https://files.invalid/a.jpg' } });
    expect(fetched.tasks?.[0]).to.deep.equal({ name: 'import-1', operation: 'import/url', status: 'processing', credits: 0 });
  });

  it('name a result that is served as the type of each output format, to whoever has the link (§2.2, §5.10)', async () => {
    const nobody = new TestClient(service.baseUrl);
    const types: Record<string, string> = { avif: 'image/avif', gif: 'image/gif', jpg: 'image/jpeg', png: 'image/png', tiff: 'image/tiff', webp: 'image/webp' };
    for (const [format, type] of Object.entries(types)) {
      const job = await tester.createJob(tasksOf('png', format));
      expect((await nobody.send('PUT', uploadUrlOf(job), { body: 'x' })).status).to.equal(200);
      const download = await nobody.send('GET', resultUrlOf(await tester.waitForStatus(job.id, 'finished', 'error')));
      expect([download.status, download.headers.get('content-type')], format).to.deep.equal([200, type]);
    }
  });

  it('of an upload in parts are these three (§2.5)', async () => {
    const { body } = await new MultipartUpload(client, await client.createJob(tasksOf('jpg', 'png'))).start(PART_BYTES + 1);
    requireFields(body, { upload_id: isText, part_size: isOneOf(PART_BYTES), parts_expected: isOneOf(2) });
  });

  it('of the caller are these four, with the balance that a refusal names (§2.6, §4.2 GET /me, D28)', async () => {
    const poor = await operator.newOrganization(1);
    for (const mode of ['live', 'test'] as const) {
      const caller = new TestClient(service.baseUrl, (await poor.newKey(mode, { scopes: ['job.read', 'job.write'] })).secret);
      if (mode === 'live') await caller.createJob(tasksOf('jpg', 'png'));
      const { body } = await caller.send<{ credits: object; scopes: unknown }>('GET', '/v1/me');
      requireFields(body, { organization_id: isOneOf(poor.id), mode: isOneOf(mode), scopes: Array.isArray, credits: (credits) => typeof credits === 'object' });
      expect([body.scopes, body.credits]).to.deep.equal([['job.read', 'job.write'], { balance: 0 }]);
      if (mode === 'live') expect((await caller.send<ErrorBody>('POST', '/v1/jobs', { json: { tasks: tasksOf('jpg', 'png') } })).body.error.details).to.include({ credits_required: 1, credits_available: 0 });
    }
  });

  it('say how long a file is waited for, how long its URL works, and how long a result is kept (§8 upload url validity, §8 never-uploaded job, §8 result retention, D40)', async () => {
    const job = await client.createJob(tasksOf('jpg', 'png'));
    const createdMs = Date.parse(job.created_at);
    expect(Number(new URL(uploadUrlOf(job)).searchParams.get('expires'))).to.equal(createdMs + 3_600_000);
    const [created] = await operator.accounts.store.load({ kind: 'job', id: job.id });
    expect(created?.event).to.have.nested.property('data.upload_deadline_at', new Date(createdMs + 7_200_000).toISOString());
    await client.upload(job, await makeDot());
    const finished = await client.waitForStatus(job.id, 'finished', 'error');
    expect(Date.parse(finished.expires_at) - DAY_MS).to.be.within(createdMs, Date.now());
    expect(Date.parse(finished.expires_at), 'from when the result is kept').to.be.greaterThan(Date.parse(job.expires_at));
  });

  it('of a list are these, with 20 jobs to a page unless told otherwise (§4.3 GET /jobs, §8 page size)', async () => {
    const many = new TestClient(service.baseUrl, (await (await operator.newOrganization()).newKey('test')).secret);
    for (let count = 0; count < 21; count += 1) await many.createJob(tasksOf('jpg', 'png'));
    for (const [query, page, length] of [['', 1, 20], ['?page=2', 2, 1]] as const) {
      const { body } = await many.send<{ data: readonly JobView[] }>('GET', `/v1/jobs${query}`);
      requireFields(body, { data: Array.isArray, page: isOneOf(page), per_page: isOneOf(20), total: isOneOf(21) });
      expect(body.data).to.have.length(length);
    }
  });
});
