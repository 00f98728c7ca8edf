import { expect } from 'chai';
import type { ErrorBody } from '../../../support/client.ts';
import { openOperator, type TestOperator, type TestOrganization } from '../../../support/organization.ts';
import { startSecondApi } from '../../../support/second-api.ts';
import type { EgressBench } from '../../../support/egress-bench.ts';
import { WebhookClient, type CreatedWebhook } from '../../../support/webhook-client.ts';
import { sharedWebhookService } from '../../../support/webhook-service.ts';
import type { TestService } from '../../../support/service.ts';

const FIELDS = ['id', 'url', 'events', 'description', 'enabled', 'disabled_reason', 'disabled_at', 'last_success_at', 'created_at'];
const ALL_EVENTS = ['job.created', 'job.finished', 'job.failed', 'job.cancelled'];
const ENDPOINTS_MAX = 20;

describe('Webhook endpoints (§2.4, §4.6)', function () {
  this.timeout(180_000);
  let service: TestService;
  let far: EgressBench;
  let operator: TestOperator;
  let organization: TestOrganization;
  let client: WebhookClient;

  before(async () => {
    ({ service, far } = await sharedWebhookService());
    operator = await openOperator(service);
  });
  beforeEach(async () => {
    organization = await operator.newOrganization();
    client = await newClient('live');
  });
  after(() => operator.stop());

  async function newClient(mode: 'live' | 'test'): Promise<WebhookClient> {
    return new WebhookClient(service.baseUrl, (await organization.newKey(mode)).secret);
  }

  it('are created with every field and the secret (§4.6 POST /webhooks, D57)', async () => {
    const url = far.url('/hook?token=a');
    const answer = await client.send<CreatedWebhook>('POST', '/v1/webhooks', { json: { url, events: ['job.failed', 'job.created'], description: 'The shop ☂' } });
    expect(answer.status).to.equal(201);
    const { id, created_at, secret, ...rest } = answer.body;
    expect(id).to.match(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(Math.abs(Date.parse(created_at) - Date.now())).to.be.below(60_000);
    expect(rest).to.deep.equal({ url, events: ['job.failed', 'job.created'], description: 'The shop ☂', enabled: true, disabled_reason: null, disabled_at: null, last_success_at: null });
    expect(secret).to.match(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(Buffer.from(secret.slice('whsec_'.length), 'base64')).to.have.length(32);
    expect((await client.register(url)).secret).not.to.equal(secret);
  });

  it('get all four events when none are named, and each once when some are repeated (§4.6 POST /webhooks, D54)', async () => {
    const all = await client.register(far.url('/all'));
    expect([all.events, all.description]).to.deep.equal([ALL_EVENTS, '']);
    const some = await client.register(far.url('/some'), { events: ['job.finished', 'job.failed', 'job.finished', 'job.failed'] });
    expect(some.events).to.deep.equal(['job.finished', 'job.failed']);
    expect((await client.webhooks()).map(({ events }) => events)).to.deep.equal([some.events, ALL_EVENTS]);
  });

  it('are listed newest first, with every field and without their secrets (§4.6 GET /webhooks)', async () => {
    const created = [await client.register(far.url('/1')), await client.register(far.url('/2'), { description: 'two' }), await client.register(far.url('/3'))];
    const answer = await client.send<{ data: readonly object[] }>('GET', '/v1/webhooks');
    expect(answer.status).to.equal(200);
    expect(Object.keys(answer.body)).to.deep.equal(['data']);
    for (const webhook of answer.body.data) expect(webhook).to.have.all.keys(FIELDS);
    expect(answer.body.data).to.deep.equal(created.toReversed().map(({ secret: _secret, ...webhook }) => webhook));
    expect(answer.bytes.toString()).not.to.include('whsec_').and.not.to.include('secret');
  });

  it('are known to every api process when their creation and their deletion are answered (D49)', async () => {
    const other = await startSecondApi(service, { OUTBOUND_DNS_SERVERS: far.names.address, OUTBOUND_ALLOWED_ADDRESSES: '127.0.0.2/32' });
    try {
      const there = new WebhookClient(other.baseUrl, (await organization.newKey('live')).secret);
      for (const [writer, reader] of [[client, there], [there, client], [client, there]] as const) {
        const { id } = await writer.register(far.url('/two'));
        expect((await reader.webhooks()).map((webhook) => webhook.id)).to.deep.equal([id]);
        expect((await writer.remove(id)).status).to.equal(204);
        expect(await reader.webhooks()).to.deep.equal([]);
        expect((await reader.remove(id)).status).to.equal(404);
      }
    } finally {
      await other.stop();
    }
  });

  it('are deleted for good: 204 without a body, then 404 (§4.6 DELETE /webhooks/<webhook_id>, §7 not_found 404)', async () => {
    const [kept, deleted] = [await client.register(far.url('/kept')), await client.register(far.url('/deleted'))];
    await client.test(deleted.id);
    const answer = await client.remove(deleted.id);
    expect([answer.status, answer.bytes.length]).to.deep.equal([204, 0]);
    expect((await client.webhooks()).map(({ id }) => id)).to.deep.equal([kept.id]);
    for (const [method, path] of [['DELETE', ''], ['POST', '/test'], ['GET', '/deliveries']] as const) {
      const again = await client.send<ErrorBody>(method, `/v1/webhooks/${deleted.id}${path}`);
      expect([again.status, again.body.error.code], path).to.deep.equal([404, 'not_found']);
    }
  });

  it('are 20 to an organization at most, both modes together; one that is deleted makes room (§8 webhook endpoints per organization, D53)', async () => {
    const tester = await newClient('test');
    for (let count = 0; count < ENDPOINTS_MAX; count += 1) await (count % 2 === 0 ? client : tester).register(far.url(`/${count}`));
    for (const one of [client, tester]) {
      const refused = await one.send<ErrorBody>('POST', '/v1/webhooks', { json: { url: far.url('/more') } });
      expect([refused.status, refused.body.error.code, refused.body.error.details?.['reason']]).to.deep.equal([400, 'validation_failed', 'too_many_endpoints']);
    }
    expect([(await client.webhooks()).length, (await tester.webhooks()).length]).to.deep.equal([10, 10]);
    await tester.remove((await tester.webhooks())[0]?.id ?? '');
    await client.register(far.url('/again'));
    expect((await client.webhooks()).length).to.equal(11);
  });

  it('are exactly 20 when 30 are created at once (§8 webhook endpoints per organization)', async () => {
    const answers = await Promise.all(Array.from({ length: 30 }, (_, index) => client.send<ErrorBody>('POST', '/v1/webhooks', { json: { url: far.url(`/${index}`) } })));
    expect(answers.filter(({ status }) => status === 201)).to.have.length(ENDPOINTS_MAX);
    expect(answers.filter(({ status }) => status !== 201).map(({ status, body }) => [status, body.error.details?.['reason']])).to.deep.equal(Array.from({ length: 10 }, () => [400, 'too_many_endpoints']));
    expect((await client.webhooks()).length).to.equal(ENDPOINTS_MAX);
  });

  it('are deleted once when that is asked for five times at once (§4.6 DELETE /webhooks/<webhook_id>)', async () => {
    const { id } = await client.register(far.url('/once'));
    const answers = await Promise.all(Array.from({ length: 5 }, () => client.send<ErrorBody | undefined>('DELETE', `/v1/webhooks/${id}`)));
    expect(answers.map(({ status }) => status)).to.have.members([204, 404, 404, 404, 404]);
    for (const { status, body } of answers) if (status === 404) expect(body?.error.message).to.equal('There is no such webhook endpoint.');
  });

  it('may be two for one URL, each with a secret of its own (§4.6)', async () => {
    const [one, two] = [await client.register(far.url('/same')), await client.register(far.url('/same'))];
    expect([one.id === two.id, one.secret === two.secret]).to.deep.equal([false, false]);
    expect(await client.webhooks()).to.have.length(2);
  });
});
