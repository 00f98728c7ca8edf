import { expect } from 'chai';
import { changePlan } from '../../../shared/accounts/manage.ts';
import { waitFor } from '../../../services/standalone/processes.ts';
import { tasksOf, TestClient, type Answer, type ErrorBody } from '../../support/client.ts';
import { post } from '../../support/idempotent-requests.ts';
import { openApiCheck, type OpenApiCheck } from '../../support/openapi-check.ts';
import { openOperator, type TestOperator, type TestOrganization } from '../../support/organization.ts';
import { startSecondApi } from '../../support/second-api.ts';
import { NO_LIMITS, sharedService, type TestService } from '../../support/service.ts';

const MAX = 5;
const RIVALS = 50;
const KNOWN_LIMIT_MS = 30_000;

describe('Active jobs of a free organization (§8 rate limits 6)', function () {
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

  async function clientOf(organization: TestOrganization, mode: 'live' | 'test' = 'live'): Promise<TestClient> {
    return new TestClient(service.baseUrl, (await organization.newKey(mode)).secret, check);
  }

  it(`are ${MAX} over all live keys; one more is 429 without Retry-After, before credits (§7 rate_limited 429, D1, D41)`, async () => {
    const organization = await operator.newOrganization(MAX, 'free');
    const [one, other] = [await clientOf(organization), await clientOf(organization)];
    const ids = [];
    for (let job = 0; job < MAX; job += 1) ids.push((await create(job % 2 === 0 ? one : other)).body.id);
    for (const client of [one, other]) requireRefused(await create(client));
    // A job that just ended makes room at once.
    for (const id of ids) {
      expect((await one.send('POST', `/v1/jobs/${id}/cancel`)).status).to.equal(200);
      expect((await create(other)).status).to.equal(201);
      requireRefused(await create(one));
    }
  });

  it('leave test keys alone (§8 rate limits 6)', async () => {
    const organization = await operator.newOrganization(20, 'free');
    const [live, tester] = [await clientOf(organization), await clientOf(organization, 'test')];
    for (let job = 0; job <= MAX; job += 1) expect((await create(tester)).status).to.equal(201);
    for (let job = 0; job < MAX; job += 1) expect((await create(live)).status).to.equal(201);
    requireRefused(await create(live));
    expect((await create(tester)).status).to.equal(201);
  });

  it('are not capped with an active plan; a change of plan counts from the next request', async () => {
    const organization = await operator.newOrganization(20, 'active');
    const client = await clientOf(organization);
    for (let job = 0; job <= MAX; job += 1) expect((await create(client)).status).to.equal(201);
    await changePlan(operator.accounts, organization.id, 'free');
    const refused = await waitFor('the api knowing the new plan', KNOWN_LIMIT_MS, async () => {
      const answer = await create(client);
      return answer.status === 429 ? answer : undefined;
    });
    requireRefused(refused);
    await changePlan(operator.accounts, organization.id, 'active');
    await waitFor('the api knowing the old plan again', KNOWN_LIMIT_MS, async () => (await create(client)).status === 201 || undefined);
  });

  it(`are exactly ${MAX} when ${RIVALS} requests come at once to two api processes (D29)`, async () => {
    const organization = await operator.newOrganization(100, 'free');
    const second = await startSecondApi(service, NO_LIMITS);
    try {
      const keys = await Promise.all([organization.newKey('live'), organization.newKey('live')]);
      const clients = keys.flatMap(({ secret }) => [new TestClient(service.baseUrl, secret), new TestClient(second.baseUrl, secret)]);
      const answers = await Promise.all(Array.from({ length: RIVALS }, (_, index) => create(clients[index % clients.length]!)));
      expect(answers.filter(({ status }) => status === 201)).to.have.length(MAX);
      for (const answer of answers) if (answer.status !== 201) requireRefused(answer);
    } finally {
      await second.stop();
    }
  });

  it('free the Idempotency-Key of a request that they refused (§8 idempotency 4)', async () => {
    const client = await clientOf(await operator.newOrganization(20, 'free'));
    const ids = [];
    for (let job = 0; job < MAX; job += 1) ids.push((await create(client)).body.id);
    requireRefused(await post<ErrorBody>(client, 'k'));
    await client.send('DELETE', `/v1/jobs/${ids[0]}`);
    const answer = await post(client, 'k');
    expect([answer.status, answer.headers.get('idempotent-replayed')]).to.deep.equal([201, null]);
  });
});

function create(client: TestClient): Promise<Answer<ErrorBody & { readonly id: string }>> {
  return client.send('POST', '/v1/jobs', { json: { tasks: tasksOf('jpg', 'png') } });
}

function requireRefused(answer: Answer<ErrorBody>): void {
  expect([answer.status, answer.body.error.code, answer.body.error.details], answer.bytes.toString()).to.deep.equal([429, 'rate_limited', { reason: 'active_job_limit_reached', limit: MAX }]);
  expect(answer.headers.has('retry-after')).to.equal(false);
  // A request that is refused here has spent from the budget of its key like any other.
  expect(Number(answer.headers.get('x-ratelimit-remaining'))).to.be.at.least(0);
  expect(answer.headers.get('x-ratelimit-limit')).to.match(/^\d+$/);
}
