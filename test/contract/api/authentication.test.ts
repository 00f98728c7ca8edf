import { expect } from 'chai';
import { waitUntilApplied } from '../../../shared/accounts/applied.ts';
import { newSecret } from '../../../shared/accounts/api-key.ts';
import { revokeApiKey, rotateApiKey } from '../../../shared/accounts/manage.ts';
import { newId } from '../../../shared/ids/ids.ts';
import { tasksOf, TestClient, type Answer, type ErrorBody } from '../../support/client.ts';
import { openApiCheck, type OpenApiCheck } from '../../support/openapi-check.ts';
import { openOperator, type TestKey, type TestOperator, type TestOrganization } from '../../support/organization.ts';
import { sharedService, type TestService } from '../../support/service.ts';

describe('Authentication', function () {
  this.timeout(120_000);
  let service: TestService;
  let operator: TestOperator;
  let check: OpenApiCheck;
  let nobody: TestClient;
  let organization: TestOrganization;
  let live: TestKey;

  before(async () => {
    service = await sharedService();
    operator = await openOperator(service);
    check = await openApiCheck(service.baseUrl);
    nobody = new TestClient(service.baseUrl, undefined, check);
    organization = await operator.newOrganization(20);
    live = await organization.newKey('live');
  });
  after(() => operator.stop());

  const clientOf = (key: TestKey): TestClient => new TestClient(service.baseUrl, key.secret, check);
  const me = (headers: Record<string, string>): Promise<Answer<ErrorBody>> => nobody.send('GET', '/v1/me', { headers });

  /** As the operator's commands do: afterwards no process acts on the old state (D62). */
  async function applied(position: number | undefined): Promise<void> {
    expect(await waitUntilApplied(operator.nc, position ?? 0)).to.deep.equal([]);
  }

  it('takes either header, and the scheme in any case (§5.1, D60)', async () => {
    for (const headers of [{ Authorization: `Bearer ${live.secret}` }, { authorization: `bEARER ${live.secret}` }, { 'X-API-Key': live.secret }]) {
      expect((await me(headers)).status).to.equal(200);
    }
  });

  it('lets Authorization count when both headers are sent (D60, D93)', async () => {
    expect((await me({ Authorization: `Bearer ${live.secret}`, 'X-API-Key': 'wrong' })).status).to.equal(200);
    expect((await me({ Authorization: 'Bearer wrong', 'X-API-Key': live.secret })).status).to.equal(401);
    expect((await me({ Authorization: `Basic ${live.secret}`, 'X-API-Key': live.secret })).status).to.equal(401);
  });

  it('answers every key that cannot be used alike (§5.2, §7 unauthorized 401, D60)', async () => {
    const revoked = await organization.newKey('live');
    await applied(await revokeApiKey(operator.accounts, organization.id, revoked.id));
    const expired = await organization.newKey('live', { expiresAt: '2020-01-01T00:00:00.000Z' });
    const answers = await Promise.all([
      me({}),
      me({ Authorization: 'Bearer' }),
      me({ Authorization: `Bearer ${live.secret} x` }),
      me({ 'X-API-Key': `${live.secret.slice(0, -1)}_` }),
      me({ 'X-API-Key': newSecret('live') }),
      me({ 'X-API-Key': 'x'.repeat(10_000) }),
      me({ 'X-API-Key': revoked.secret }),
      me({ 'X-API-Key': expired.secret }),
    ]);
    const bodies = answers.map(({ status, body, headers }) => JSON.stringify([status, { ...body.error, request_id: '' }, headers.get('www-authenticate')]));
    expect(new Set(bodies)).to.have.length(1);
    expect(answers[0]?.headers.get('www-authenticate')).to.equal('Bearer');
    expect(answers[0]?.body.error).to.have.property('code', 'unauthorized').and.not.to.have.property('details');
  });

  it('ends the old secret of a rotated key and keeps its id (§5.8, D11, D62)', async () => {
    const key = await organization.newKey('live');
    const job = await clientOf(key).createJob(tasksOf('jpg', 'png'));
    const rotated = await rotateApiKey(operator.accounts, organization.id, key.id, 'live');
    await applied(rotated.position);
    expect((await me({ 'X-API-Key': key.secret })).status).to.equal(401);
    const again = new TestClient(service.baseUrl, rotated.secret, check);
    expect((await again.readJob(job.id)).api_key_id).to.equal(key.id);
  });

  it('comes before 404 and 405 below the base, and not at all on public routes (§5.1, D3, D50)', async () => {
    for (const [method, path] of [['GET', '/v1/nothing'], ['PATCH', '/v1/jobs'], ['GET', '/v1'], ['POST', '/v1/operations'], ['GET', `/v1/jobs/${newId(0)}`]] as const) {
      expect((await nobody.send(method, path)).status, path).to.equal(401);
    }
    for (const path of ['/v1/operations', '/v1/openapi.json', '/healthz', '/readyz']) {
      expect((await nobody.send('GET', path, { headers: { 'X-API-Key': 'wrong' } })).status, path).to.equal(200);
    }
  });

  it('names the missing scope by 403, before it looks at the request or the job (§5.6, §7 forbidden_scope 403, D3)', async () => {
    const reader = clientOf(await organization.newKey('live', { scopes: ['job.read'] }));
    const writer = clientOf(await organization.newKey('live', { scopes: ['job.write'] }));
    for (const [client, method, path, scope] of [
      [reader, 'POST', '/v1/jobs', 'job.write'],
      [reader, 'DELETE', '/v1/jobs/not-a-uuid', 'job.write'],
      [reader, 'POST', `/v1/jobs/${newId(0)}/cancel`, 'job.write'],
      [writer, 'GET', '/v1/jobs?page=0', 'job.read'],
      [writer, 'GET', `/v1/jobs/${newId(0)}?wait=99`, 'job.read'],
    ] as const) {
      const { status, body } = await client.send<ErrorBody>(method, path);
      expect([status, body.error.code, body.error.details], path).to.deep.equal([403, 'forbidden_scope', { required_scope: scope }]);
    }
    expect((await reader.send('PATCH', '/v1/jobs')).status).to.equal(405);
    expect((await reader.send('GET', '/v1/me')).status).to.equal(200);
  });

  it('shows the caller with mode, scopes and the balance of the organization (§4.2, §4.2 GET /me, §5.7, D28)', async () => {
    const test = await organization.newKey('test', { scopes: ['job.read'] });
    const { body } = await clientOf(test).send<{ credits: { balance: number } }>('GET', '/v1/me');
    expect(body).to.deep.include({ organization_id: organization.id, mode: 'test', scopes: ['job.read'] });
    const { body: other } = await clientOf(live).send<{ credits: { balance: number } }>('GET', '/v1/me');
    expect(other.credits.balance).to.equal(body.credits.balance);
  });

  it('keeps organizations and modes apart: every look at a strange job is as at none (§5.4, §7 not_found 404)', async () => {
    const job = await clientOf(live).createJob(tasksOf('jpg', 'png'));
    const sameModeElsewhere = await (await operator.newOrganization()).newKey('live');
    const otherMode = await organization.newKey('test');
    const secondKey = await organization.newKey('live');
    expect((await clientOf(secondKey).readJob(job.id)).id).to.equal(job.id);
    for (const key of [sameModeElsewhere, otherMode]) {
      for (const [method, suffix] of [['GET', ''], ['GET', '?wait=1'], ['POST', '/cancel'], ['DELETE', '']] as const) {
        const strange = await clientOf(key).send<ErrorBody>(method, `/v1/jobs/${job.id}${suffix}`);
        const unknown = await clientOf(key).send<ErrorBody>(method, `/v1/jobs/${newId(Date.now())}${suffix}`);
        expect(strange.status).to.equal(404);
        expect({ ...strange.body.error, request_id: '' }).to.deep.equal({ ...unknown.body.error, request_id: '' });
      }
    }
    expect((await clientOf(live).readJob(job.id)).status).to.equal('waiting');
  });

  it('answers 404 to ids that are none of ours, however they are written (D3)', async () => {
    const job = await clientOf(live).createJob(tasksOf('jpg', 'png'));
    for (const id of [job.id.toUpperCase(), `{${job.id}}`, job.id.replace(/^./, (first) => `%${first.charCodeAt(0).toString(16)}`), '*', '%3E', '1', 'x'.repeat(500)]) {
      expect((await clientOf(live).send('GET', `/v1/jobs/${id}`)).status, id).to.equal(404);
    }
  });
});
