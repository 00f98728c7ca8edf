import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import type { JobView } from '../../shared/domain/job-view.ts';
import { tasksOf, TestClient, type Answer, type ErrorBody } from '../support/client.ts';
import { fixturePath } from '../support/fixtures.ts';
import { openOperator, type TestOperator, type TestOrganization } from '../support/organization.ts';
import { sharedService, type TestService } from '../support/service.ts';

const UNKNOWN_ID = '0190b3a4-7c1e-7d1f-8a2b-3c4d5e6f7a8b';
const ROUTES = [['GET', ''], ['GET', '?wait=1'], ['POST', '/cancel'], ['DELETE', '']] as const;

describe('Jobs of others', function () {
  this.timeout(180_000);
  let service: TestService;
  let operator: TestOperator;
  let owner: TestOrganization;
  let ownerClient: TestClient;
  let waiting: JobView;
  let finished: JobView;

  const clientOf = async (organization: TestOrganization, mode: 'live' | 'test' = 'live'): Promise<TestClient> => new TestClient(service.baseUrl, (await organization.newKey(mode)).secret);

  before(async () => {
    service = await sharedService();
    operator = await openOperator(service);
    owner = await operator.newOrganization(10);
    ownerClient = await clientOf(owner);
    finished = await ownerClient.convert(await readFile(fixturePath('sample.webp')), tasksOf('webp', 'png'));
    waiting = await ownerClient.createJob(tasksOf('webp', 'png'), { tag: 'mine' });
  });
  after(() => operator.stop());

  async function requireInvisible(client: TestClient): Promise<void> {
    for (const [method, rest] of ROUTES) {
      const unknown = withoutRequestId(await client.send<ErrorBody>(method, `/v1/jobs/${UNKNOWN_ID}${rest}`));
      expect(unknown[0], `${method} ${rest}`).to.equal(404);
      for (const { id } of [waiting, finished]) {
        expect(withoutRequestId(await client.send<ErrorBody>(method, `/v1/jobs/${id}${rest}`)), `${method} ${rest}`).to.deep.equal(unknown);
      }
    }
    const list = await client.send<{ data: readonly unknown[]; total: number }>('GET', `/v1/jobs?tag=mine&api_key_id=${waiting.api_key_id}`);
    expect(list.body).to.include({ total: 0 });
    expect(list.body.data).to.deep.equal([]);
  }

  it('do not exist for another organization, byte for byte (§4.3, §7 not_found 404)', async () => {
    await requireInvisible(await clientOf(await operator.newOrganization(10)));
  });

  it('do not exist for a test key of the same organization, nor the other way round (§5.4)', async () => {
    const tester = await clientOf(owner, 'test');
    await requireInvisible(tester);
    const testJob = await tester.createJob(tasksOf('webp', 'png'));
    expect((await ownerClient.send('GET', `/v1/jobs/${testJob.id}`)).status).to.equal(404);
  });

  it('are shared by the keys of one organization and mode, and untouched by all who tried (§5.4)', async () => {
    const colleague = await clientOf(owner);
    expect(await colleague.readJob(finished.id)).to.deep.include({ id: finished.id, status: 'finished', credits_used: 1 });
    expect(await colleague.readJob(waiting.id)).to.include({ status: 'waiting', tag: 'mine' });
  });

  it('are read but not changed with the scope job.read, and the other way round with job.write (§5.5, §5.6)', async () => {
    const [reader, writer] = await Promise.all((['job.read', 'job.write'] as const).map(async (scope) => new TestClient(service.baseUrl, (await owner.newKey('live', { scopes: [scope] })).secret)));
    const refused: readonly (readonly [TestClient, string, string])[] = [
      [reader!, 'POST', '/v1/jobs'], [reader!, 'POST', `/v1/jobs/${waiting.id}/cancel`], [reader!, 'DELETE', `/v1/jobs/${waiting.id}`],
      [writer!, 'GET', '/v1/jobs'], [writer!, 'GET', `/v1/jobs/${waiting.id}`], [writer!, 'GET', `/v1/jobs/${UNKNOWN_ID}`],
    ];
    for (const [client, method, path] of refused) {
      const answer = await client.send<ErrorBody>(method, path, method === 'POST' ? { json: {} } : {});
      expect([answer.status, answer.body.error.code], `${method} ${path}`).to.deep.equal([403, 'forbidden_scope']);
    }
    expect((await reader!.send('GET', `/v1/jobs/${waiting.id}`)).status).to.equal(200);
    expect((await writer!.send('POST', `/v1/jobs/${waiting.id}/cancel`)).status).to.equal(200);
  });
});

/** An answer without what may differ: the id of the request. */
function withoutRequestId(answer: Answer<ErrorBody>): readonly [number, string] {
  return [answer.status, answer.bytes.toString().replaceAll(answer.body.error.request_id, 'ID')];
}
