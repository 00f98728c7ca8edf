import { expect } from 'chai';
import { newId } from '../../../shared/ids/ids.ts';
import { requestHold } from '../../../shared/ledger-client/ledger-client.ts';
import { waitFor } from '../../../services/standalone/processes.ts';
import { TestClient, type ErrorBody } from '../../support/client.ts';
import { IdempotencyNotes } from '../../support/idempotency-notes.ts';
import { BODY, OTHER_BODY, post, requireConflict, totalOf } from '../../support/idempotent-requests.ts';
import { creditsByJob, readLog, typesByJob } from '../../support/log-reading.ts';
import { openApiCheck, type OpenApiCheck } from '../../support/openapi-check.ts';
import { openOperator, type TestKey, type TestOperator, type TestOrganization } from '../../support/organization.ts';
import { sharedService, type TestService } from '../../support/service.ts';

type Own = { readonly organization: TestOrganization; readonly key: TestKey; readonly client: TestClient };

/** Leases of what the tests leave behind ended long ago. */
const OVER_MS = -1_000;
const SETTLED_LIMIT_MS = 15_000;

/** Each test leaves behind what an api leaves that is killed at one moment of a request. */
describe('A retry after the api was killed (D82)', function () {
  this.timeout(120_000);
  let service: TestService;
  let operator: TestOperator;
  let check: OpenApiCheck;
  let notes: IdempotencyNotes;

  before(async () => {
    service = await sharedService();
    operator = await openOperator(service);
    check = await openApiCheck(service.baseUrl);
    notes = await IdempotencyNotes.open(service, operator.nc);
  });
  after(() => operator.stop());

  async function open(credits: number): Promise<Own> {
    const organization = await operator.newOrganization(credits);
    const key = await organization.newKey('live');
    return { organization, key, client: new TestClient(service.baseUrl, key.secret, check) };
  }

  function hold(organizationId: string, jobId: string): Promise<unknown> {
    return requestHold(operator.nc, { organization_id: organizationId, job_id: jobId, amount: 1, command_id: newId(Date.now()), correlation_id: newId(Date.now()), actor: 'operator' });
  }

  async function typesOf(jobId: string): Promise<readonly string[] | undefined> {
    return typesByJob(await readLog(operator.nc, 'JOBS')).get(jobId);
  }

  it('when the key was only noted, makes a job, and gives up the noted one for good', async () => {
    const { client, key } = await open(1);
    const left = newId(Date.now());
    await notes.leaveRunning(notes.request(key.id, 'k', BODY), left, OVER_MS);
    const answer = await post(client, 'k');
    expect([answer.status, answer.headers.get('idempotent-replayed')]).to.deep.equal([201, null]);
    expect(answer.body.id).not.to.equal(left);
    expect(await typesOf(left)).to.deep.equal(['job.deleted']);
    expect((await post(client, 'k')).bytes.equals(answer.bytes)).to.equal(true);
    expect(await totalOf(client)).to.equal(1);
  });

  it('when credits were held, makes a job even of the last credit, and the hold is not lost', async () => {
    const { client, key, organization } = await open(1);
    const left = newId(Date.now());
    await hold(organization.id, left);
    await notes.leaveRunning(notes.request(key.id, 'k', BODY), left, OVER_MS);
    const answer = await post(client, 'k');
    expect(answer.status, answer.bytes.toString()).to.equal(201);
    const credits = creditsByJob(await readLog(operator.nc, 'CREDITS'));
    expect([credits.get(left), credits.get(answer.body.id)]).to.deep.equal([['held', 'released'], ['held']]);
  });

  it('when credits were held and the body is another one, makes a job of that', async () => {
    const { client, key, organization } = await open(1);
    const left = newId(Date.now());
    await hold(organization.id, left);
    await notes.leaveRunning(notes.request(key.id, 'k', BODY), left, OVER_MS);
    const answer = await post(client, 'k', OTHER_BODY);
    expect([answer.status, answer.body.tag]).to.deep.equal([201, 'u']);
    requireConflict(await post<ErrorBody>(client, 'k', BODY), 422);
    expect(await totalOf(client)).to.equal(1);
  });

  it('when the job was created, gets the original answer of that job', async () => {
    const { client, key } = await open(5);
    const first = await post(client, 'k');
    await client.send('POST', `/v1/jobs/${first.body.id}/cancel`);
    await notes.leaveRunning(notes.request(key.id, 'k', BODY), first.body.id, OVER_MS);
    requireConflict(await post<ErrorBody>(client, 'k', OTHER_BODY), 422);
    for (let retry = 0; retry < 2; retry += 1) {
      const answer = await post(client, 'k');
      expect([answer.status, answer.headers.get('idempotent-replayed')]).to.deep.equal([201, 'true']);
      expect(answer.bytes.equals(first.bytes)).to.equal(true);
    }
    expect(await totalOf(client)).to.equal(1);
  });

  it('when the job was created and then deleted, gets the original answer all the same (D36)', async () => {
    const { client, key } = await open(5);
    const first = await post(client, 'k');
    expect((await client.send('DELETE', `/v1/jobs/${first.body.id}`)).status).to.equal(204);
    await waitFor('the end of its key', SETTLED_LIMIT_MS, async () => ((await operator.accounts.dataKeys.get(`job.${first.body.id}`)) === undefined ? true : undefined));
    await notes.leaveRunning(notes.request(key.id, 'k', BODY), first.body.id, OVER_MS);
    expect((await post(client, 'k')).bytes.equals(first.bytes)).to.equal(true);
  });

  it('when the ledger has given the job up meanwhile, makes another', async () => {
    const { client, key } = await open(1);
    const left = newId(Date.now());
    const request = notes.request(key.id, 'k', BODY);
    for (let round = 0; round < 2; round += 1) {
      // The second time the job of the first was given up already.
      await notes.leaveRunning(request, left, OVER_MS);
      const answer = await post(client, 'k');
      expect(answer.status).to.equal(201);
      expect((await client.send('POST', `/v1/jobs/${answer.body.id}/cancel`)).status).to.equal(200);
    }
    expect(await typesOf(left)).to.deep.equal(['job.deleted']);
  });

  it('waits until the lease is over', async () => {
    const { client, key } = await open(5);
    await notes.leaveRunning(notes.request(key.id, 'k', BODY), newId(Date.now()), 1_500);
    requireConflict(await post<ErrorBody>(client, 'k'), 409);
    const answer = await waitFor('the end of the lease', SETTLED_LIMIT_MS, async () => {
      const tried = await post(client, 'k');
      return tried.status === 201 ? tried : undefined;
    });
    expect(answer.headers.get('idempotent-replayed')).to.equal(null);
  });

  it('makes one job when many retry at once', async () => {
    const { client, key } = await open(20);
    await notes.leaveRunning(notes.request(key.id, 'k', BODY), newId(Date.now()), OVER_MS);
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(client, 'k')));
    expect(answers.filter(({ status, headers }) => status === 201 && !headers.has('idempotent-replayed'))).to.have.length(1);
    for (const { status } of answers) expect(status).to.be.oneOf([201, 409]);
    expect(await totalOf(client)).to.equal(1);
  });

  it('keeps in job.created which key and which body it was, unreadably', async () => {
    const { client, key } = await open(5);
    const { body } = await post(client, 'k');
    const created = (await readLog(operator.nc, 'JOBS')).find(({ subject, type }) => subject === body.id && type === 'job.created');
    expect(created?.data['idempotency']).to.deep.equal(notes.request(key.id, 'k', BODY).mark);
    const entry = await notes.find(notes.request(key.id, 'k', BODY));
    expect(entry).to.have.keys('state', 'fingerprint', 'job_id', 'answer');
    expect(JSON.stringify(entry)).not.to.include('import-1').and.not.to.include('uploadUrl');
  });
});
