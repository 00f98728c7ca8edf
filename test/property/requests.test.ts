import { expect } from 'chai';
import fc from 'fast-check';
import { tasksOf, TestClient } from '../support/client.ts';
import { readOperations, requestsFor, type Operation } from '../support/generated-requests.ts';
import { inParallel } from '../support/in-parallel.ts';
import { openApiCheck } from '../support/openapi-check.ts';
import { openOperator } from '../support/organization.ts';
import { WebhookClient } from '../support/webhook-client.ts';
import { sharedWebhookService } from '../support/webhook-service.ts';

/** Requests for each operation; a failing one is made small and printed with its seed. */
const REQUESTS_EACH = 40;
/** Operations that are tried side by side: most of the time goes by in waiting. */
const SIDE_BY_SIDE = 4;
/** Answers that must have come up, or the requests were all of one kind. */
const MET = ['POST /jobs 201', 'POST /jobs 400', 'GET /jobs/{job_id} 200', 'GET /jobs/{job_id} 404', 'GET /jobs 200', 'GET /jobs 400', 'DELETE /jobs/{job_id} 204', 'GET /me 401', 'POST /webhooks 201', 'POST /webhooks 400', 'POST /webhooks/{webhook_id}/replay 202', 'POST /webhooks/{webhook_id}/test 202'];
/** A thousand requests, some of which wait for a second. */
const ALL_MS_MAX = 240_000;

describe('Requests that nobody would write', function () {
  this.timeout(ALL_MS_MAX);

  it('are never answered with 500, nor with anything that the OpenAPI document does not say (§9.6, D74)', async () => {
    const { service, far } = await sharedWebhookService();
    const operator = await openOperator(service);
    try {
      const check = await openApiCheck(service.baseUrl);
      const client = new TestClient(service.baseUrl, undefined, check);
      const document: unknown = (await client.send('GET', '/v1/openapi.json')).body;
      const operations = readOperations(document);
      expect(operations.map(({ operationId }) => operationId)).to.include.members(['createJob', 'getJob', 'listJobs', 'uploadSource', 'createWebhook', 'replayDeliveries']);
      await inParallel(operations.length, SIDE_BY_SIDE, async (index) => {
        // Jobs and endpoints of its own for each, because some operations remove them, and an organization has few endpoints.
        const organization = await operator.newOrganization(1_000_000);
        const secrets = await Promise.all((['live', 'test'] as const).map(async (mode) => (await organization.newKey(mode)).secret));
        const clients = secrets.map((secret) => new WebhookClient(service.baseUrl, secret));
        const isAboutWebhooks = operations[index]?.path.includes('/webhooks') === true;
        const made = await Promise.all(clients.map((owner) => (isAboutWebhooks ? owner.register(far.url('/fuzz'), { events: ['job.cancelled'] }) : owner.createJob(tasksOf('jpg', 'png')))));
        const body = isAboutWebhooks ? { url: far.url('/fuzz'), events: ['job.failed'], description: 'some', since: '2026-01-01T00:00:00Z' } : { tasks: tasksOf('jpg', 'png', { width: 20 }), tag: 'some' };
        await tryOut(client, operations[index], { ids: made.map(({ id }) => id), secrets, body });
      });
      expect([...check.seen]).to.include.members(MET);
    } finally {
      await operator.stop();
    }
  });
});

async function tryOut(client: TestClient, operation: Operation | undefined, known: Parameters<typeof requestsFor>[1]): Promise<void> {
  if (!operation) throw new Error('there is no such operation');
  const property = fc.asyncProperty(requestsFor(operation, known), async ({ method, target, headers, body }) => {
    // Every answer is held against the document on the way.
    const { status, bytes } = await client.send(method, target, { headers, ...(body === undefined ? {} : { body }) });
    expect(status, `${method} ${target}: ${bytes.toString().slice(0, 500)}`).to.be.lessThan(500);
  });
  await fc.assert(property, { numRuns: REQUESTS_EACH });
}
