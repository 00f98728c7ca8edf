import { expect } from 'chai';
import { tasksOf, TestClient, type ErrorBody } from '../../support/client.ts';
import { openOperator, type TestOperator } from '../../support/organization.ts';
import { sharedService, type TestService } from '../../support/service.ts';

const SCOPES = ['job.read', 'job.write', 'webhook.read', 'webhook.write'] as const;

/** Every endpoint of jobs and their uploads with the scope it needs, in an order in which each can do its work. */
const ENDPOINTS = [
  ['GET', '/v1/jobs', 'job.read'],
  ['GET', '/v1/jobs/JOB', 'job.read'],
  ['POST', '/v1/jobs', 'job.write'],
  ['POST', '/v1/jobs/JOB/uploads/multipart', 'job.write'],
  ['POST', '/v1/jobs/JOB/uploads/multipart/parts', 'job.write'],
  ['POST', '/v1/jobs/JOB/uploads/multipart/complete', 'job.write'],
  ['POST', '/v1/jobs/JOB/uploads/multipart/abort', 'job.write'],
  ['POST', '/v1/jobs/JOB/cancel', 'job.write'],
  ['DELETE', '/v1/jobs/JOB', 'job.write'],
] as const;

describe('Scopes', function () {
  this.timeout(120_000);
  let service: TestService;
  let operator: TestOperator;

  before(async () => {
    service = await sharedService();
    operator = await openOperator(service);
  });
  after(() => operator.stop());

  for (const granted of SCOPES) {
    it(`of a key with ${granted} alone open what they name and nothing else (§5.5, §5.6, §5.7)`, async () => {
      const organization = await operator.newOrganization(5);
      const job = await new TestClient(service.baseUrl, (await organization.newKey('live')).secret).createJob(tasksOf('jpg', 'png'));
      const client = new TestClient(service.baseUrl, (await organization.newKey('live', { scopes: [granted] })).secret);
      const bodies: Readonly<Record<string, object>> = { '/v1/jobs': { tasks: tasksOf('jpg', 'png') }, '/v1/jobs/JOB/uploads/multipart': { size_bytes: 1 }, '/v1/jobs/JOB/uploads/multipart/parts': { part_numbers: [1] } };
      for (const [method, path, needed] of ENDPOINTS) {
        const json = method === 'POST' ? bodies[path] : undefined;
        const { status, body } = await client.send<ErrorBody>(method, path.replace('JOB', job.id), json ? { json } : {});
        // A complete without a body is a bad request, and no refusal for want of a scope.
        if (granted === needed) expect(status, `${method} ${path}`).to.be.oneOf([200, 201, 204, ...(path.endsWith('/complete') ? [400] : [])]);
        else expect([status, body.error.code, body.error.details], `${method} ${path}`).to.deep.equal([403, 'forbidden_scope', { required_scope: needed }]);
      }
      const me = await client.send<{ scopes: readonly string[] }>('GET', '/v1/me');
      expect([me.status, me.body.scopes]).to.deep.equal([200, [granted]]);
      expect((await client.send('GET', '/v1/operations')).status).to.equal(200);
    });
  }
});
