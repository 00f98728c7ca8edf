import { expect } from 'chai';
import { tasksOf, type ErrorBody } from '../../../support/client.ts';
import type { EgressBench } from '../../../support/egress-bench.ts';
import { openOperator, type TestOperator, type TestOrganization } from '../../../support/organization.ts';
import type { TestService } from '../../../support/service.ts';
import { WebhookClient, type CreatedWebhook } from '../../../support/webhook-client.ts';
import { sharedWebhookService } from '../../../support/webhook-service.ts';

const SCOPES = ['job.read', 'job.write', 'webhook.read', 'webhook.write'] as const;
const UNKNOWN_ID = '0190b3a4-7c1e-7d1f-8a2b-3c4d5e6f7a8b';

/** Every endpoint about webhooks, the scope it needs, and what it answers when all is well; the one that deletes comes last. */
const ENDPOINTS = [
  ['GET', '/v1/webhooks', 'webhook.read', 200],
  ['POST', '/v1/webhooks', 'webhook.write', 201],
  ['GET', '/v1/webhooks/WEBHOOK/deliveries', 'webhook.read', 200],
  ['POST', '/v1/webhooks/WEBHOOK/test', 'webhook.write', 202],
  ['POST', '/v1/webhooks/WEBHOOK/deliveries/DELIVERY/replay', 'webhook.write', 202],
  ['POST', '/v1/webhooks/WEBHOOK/replay', 'webhook.write', 202],
  ['DELETE', '/v1/webhooks/WEBHOOK', 'webhook.write', 204],
] as const;
const ABOUT_ONE = ENDPOINTS.filter(([, path]) => path.includes('WEBHOOK'));

describe('Webhook endpoints of others', function () {
  this.timeout(180_000);
  let service: TestService;
  let far: EgressBench;
  let operator: TestOperator;
  let organization: TestOrganization;
  let owner: WebhookClient;
  let webhook: CreatedWebhook;
  let deliveryId: string;

  before(async () => {
    ({ service, far } = await sharedWebhookService());
    operator = await openOperator(service);
    organization = await operator.newOrganization(100);
    owner = await clientOf(organization, 'live');
  });
  beforeEach(async () => {
    webhook = await owner.register(far.url('/isolation'));
    await owner.createJob(tasksOf('jpg', 'png'));
    deliveryId = (await owner.untilHistory(webhook.id, ({ event }) => event === 'job.created')).id;
  });
  afterEach(async () => {
    for (const { id } of await owner.webhooks()) await owner.remove(id);
  });
  after(() => operator.stop());

  async function clientOf(of: TestOrganization, mode: 'live' | 'test', scopes?: readonly (typeof SCOPES)[number][]): Promise<WebhookClient> {
    return new WebhookClient(service.baseUrl, (await of.newKey(mode, scopes ? { scopes } : {})).secret);
  }

  function ask(client: WebhookClient, method: string, path: string, webhookId = webhook.id, delivery = deliveryId) {
    const json = method !== 'POST' ? undefined : path.endsWith('/webhooks') ? { url: far.url('/isolation') } : path.endsWith('WEBHOOK/replay') ? { since: '2026-01-01T00:00:00Z' } : undefined;
    return client.send<ErrorBody>(method, path.replace('WEBHOOK', webhookId).replace('DELIVERY', delivery), json ? { json } : {});
  }

  it('are not there for another organization and the other mode, like those that never were (§7 not_found 404, §5.4, D53)', async () => {
    const strangers = [await clientOf(await operator.newOrganization(), 'live'), await clientOf(organization, 'test')];
    for (const stranger of strangers) {
      expect(await stranger.webhooks()).to.deep.equal([]);
      for (const [method, path] of ABOUT_ONE) {
        const [real, unknown] = [await ask(stranger, method, path), await ask(stranger, method, path, UNKNOWN_ID)];
        expect([real.status, real.body.error.code], `${method} ${path}`).to.deep.equal([404, 'not_found']);
        expect({ ...real.body.error, request_id: '' }, `${method} ${path}`).to.deep.equal({ ...unknown.body.error, request_id: '' });
      }
    }
    expect((await owner.webhooks()).map(({ id }) => id)).to.deep.equal([webhook.id]);
  });

  it('are seen by every key of the organization and mode (§5.4)', async () => {
    const colleague = await clientOf(organization, 'live');
    expect((await colleague.webhooks()).map(({ id }) => id)).to.deep.equal([webhook.id]);
    expect((await colleague.remove(webhook.id)).status).to.equal(204);
  });

  it('do not lend a delivery to another endpoint (§7 not_found 404)', async () => {
    const other = await owner.register(far.url('/isolation'));
    const answer = await ask(owner, 'POST', '/v1/webhooks/WEBHOOK/deliveries/DELIVERY/replay', other.id);
    expect([answer.status, answer.body.error.code]).to.deep.equal([404, 'not_found']);
  });

  it('are 404 for whatever is no id, and so are deliveries (§7 not_found 404, D3)', async () => {
    for (const bad of ['1', 'null', webhook.id.toUpperCase(), `{${webhook.id}}`, `${webhook.id}%20`, '%00', '..%2f', '*', '>', 'evt_1', '%F0%28', '0'.repeat(300)]) {
      for (const [method, path] of ABOUT_ONE) {
        const answer = await ask(owner, method, path, bad);
        expect([answer.status, answer.body.error.code], `${method} ${path} ${bad}`).to.deep.equal([404, 'not_found']);
      }
      const answer = await ask(owner, 'POST', '/v1/webhooks/WEBHOOK/deliveries/DELIVERY/replay', webhook.id, bad);
      expect([answer.status, answer.body.error.code], bad).to.deep.equal([404, 'not_found']);
    }
    const unknown = await ask(owner, 'POST', '/v1/webhooks/WEBHOOK/deliveries/DELIVERY/replay', webhook.id, UNKNOWN_ID);
    expect([unknown.status, unknown.body.error.code]).to.deep.equal([404, 'not_found']);
  });

  for (const granted of SCOPES) {
    it(`need their scope; a key with ${granted} alone opens what it names (§5.5, §5.6, §7 forbidden_scope 403)`, async () => {
      const client = await clientOf(organization, 'live', [granted]);
      for (const [method, path, needed, status] of ENDPOINTS) {
        const answer = await ask(client, method, path);
        if (granted === needed) expect(answer.status, `${method} ${path}`).to.equal(status);
        else expect([answer.status, answer.body.error.code, answer.body.error.details], `${method} ${path}`).to.deep.equal([403, 'forbidden_scope', { required_scope: needed }]);
      }
      // The scope comes before any look at what is there (D3).
      const unknown = await ask(client, 'DELETE', '/v1/webhooks/WEBHOOK', UNKNOWN_ID);
      expect(unknown.status).to.equal(granted === 'webhook.write' ? 404 : 403);
    });
  }

  it('count against the budget of all other requests, and say how it stands (§8 rate limits 1, §8 rate limits 2)', async () => {
    const client = await clientOf(organization, 'live');
    const remaining: number[] = [];
    for (const [method, path] of ENDPOINTS) remaining.push(Number((await ask(client, method, path)).headers.get('x-ratelimit-remaining')));
    // A new minute may begin in between.
    const falls = remaining.slice(1).filter((left, index) => left === (remaining[index] ?? 0) - 1).length;
    expect(falls).to.be.at.least(remaining.length - 2);
  });

  it('answer other methods with 405 and those that there are (D51)', async () => {
    for (const [path, allow] of [['/v1/webhooks', 'GET, HEAD, POST, OPTIONS'], [`/v1/webhooks/${webhook.id}`, 'DELETE, OPTIONS'], [`/v1/webhooks/${webhook.id}/test`, 'POST, OPTIONS']] as const) {
      const answer = await owner.send<ErrorBody>('PUT', path);
      expect([answer.status, answer.body.error.code], path).to.deep.equal([405, 'method_not_allowed']);
      expect(answer.headers.get('allow')?.split(', ').toSorted(), path).to.deep.equal(allow.split(', ').toSorted());
    }
  });
});
