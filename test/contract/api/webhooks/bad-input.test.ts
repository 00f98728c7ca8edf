import { expect } from 'chai';
import type { Answer, ErrorBody } from '../../../support/client.ts';
import { outcome } from '../../../support/multipart.ts';
import type { EgressBench } from '../../../support/egress-bench.ts';
import { openOperator, type TestOperator } from '../../../support/organization.ts';
import type { TestService } from '../../../support/service.ts';
import { WebhookClient } from '../../../support/webhook-client.ts';
import { sharedWebhookService } from '../../../support/webhook-service.ts';

const NOT_HTTPS = 'must start with https://';
const INVALID = 'must be a valid URL of at most 2048 characters, without credentials, spaces or a port of another protocol';
const BLOCKED = 'must lead to a public host; private, loopback, link-local and cloud-metadata addresses are not allowed';
const UNRESOLVED = 'must lead to a public host; the name of this one does not resolve to an address';

/** Every kind of URL that is refused, and what is said of it. Names are those of the name server of the test. */
const BAD_URLS: Readonly<Record<string, string>> = {
  'http://public.example.test/hook': NOT_HTTPS,
  'HTTP://127.0.0.1/hook': NOT_HTTPS,
  'ftp://public.example.test/hook': NOT_HTTPS,
  'javascript:alert(1)': NOT_HTTPS,
  'public.example.test/hook': INVALID,
  '/hook': INVALID,
  'https:': INVALID,
  'https:///hook': INVALID,
  'https://user:pw@public.example.test/hook': INVALID,
  'https://@public.example.test/hook': INVALID,
  'https://public.example.test:22/hook': INVALID,
  'https://public.example.test:70000/hook': INVALID,
  'https://public.example.test/a b': INVALID,
  'https://public.example.test\\@127.0.0.1/': INVALID,
  'https://public.example.test/\r\nX-Header: 1': INVALID,
  [`https://public.example.test/${'a'.repeat(2048)}`]: INVALID,
  'https://127.0.0.1/hook': BLOCKED,
  'https://127.1/hook': BLOCKED,
  'https://2130706433/hook': BLOCKED,
  'https://0x7f000001/hook': BLOCKED,
  'https://[::1]/hook': BLOCKED,
  'https://[::ffff:10.0.0.1]/hook': BLOCKED,
  'https://10.1.2.3/hook': BLOCKED,
  'https://172.16.0.1/hook': BLOCKED,
  'https://192.168.1.1/hook': BLOCKED,
  'https://169.254.169.254/latest/meta-data': BLOCKED,
  'https://[fe80::1]/hook': BLOCKED,
  'https://[fd00::1]/hook': BLOCKED,
  'https://localhost/hook': BLOCKED,
  'https://printer.local/hook': BLOCKED,
  'https://metadata/hook': BLOCKED,
  'https://private.example.test/hook': BLOCKED,
  'https://mixed.example.test/hook': BLOCKED,
  'https://metadata.example.test/hook': BLOCKED,
  'https://alias.example.test/hook': BLOCKED,
  'https://six.example.test/hook': BLOCKED,
  'https://nowhere.example.test/hook': UNRESOLVED,
  'https://broken.example.test/hook': UNRESOLVED,
  'https://empty.example.test/hook': UNRESOLVED,
};

describe('Registering a webhook endpoint with bad input (§4.6 POST /webhooks, §7 validation_failed 400)', function () {
  this.timeout(180_000);
  let service: TestService;
  let far: EgressBench;
  let operator: TestOperator;
  let client: WebhookClient;

  before(async () => {
    ({ service, far } = await sharedWebhookService());
    operator = await openOperator(service);
    client = new WebhookClient(service.baseUrl, (await (await operator.newOrganization()).newKey('live')).secret);
    far.names.set('private.example.test', ['10.0.0.7']);
    far.names.set('mixed.example.test', ['127.0.0.2', '10.0.0.7']);
    far.names.set('metadata.example.test', ['169.254.169.254']);
    far.names.set('alias.example.test', ['private.example.test', '10.0.0.7']);
    far.names.set('six.example.test', ['127.0.0.2', '::ffff:127.0.0.1']);
    far.names.set('broken.example.test', () => 'failure');
    far.names.set('empty.example.test', []);
  });
  after(() => operator.stop());
  afterEach('nothing is created or sent', async () => {
    expect(await client.webhooks()).to.deep.equal([]);
    expect([far.hits(), far.origin.requests.filter(({ path }) => path.startsWith('/bad'))]).to.deep.equal([0, []]);
  });

  const register = (json: unknown): Promise<Answer<ErrorBody>> => client.send<ErrorBody>('POST', '/v1/webhooks', { json });

  async function pathsOf(json: unknown): Promise<readonly string[]> {
    const answer = await register(json);
    expect([answer.status, answer.body.error.code], JSON.stringify(json)).to.deep.equal([400, 'validation_failed']);
    const issues = answer.body.error.details?.['issues'] as readonly { readonly path: string; readonly message: string }[];
    for (const { message } of issues) expect(message, JSON.stringify(json)).to.match(/^must /);
    return issues.map(({ path }) => path);
  }

  it('names the URL and what is allowed, for every kind of URL that is not (§4.6, D55, D93)', async () => {
    for (const [url, message] of Object.entries(BAD_URLS)) {
      expect(outcome(await register({ url })), url).to.deep.equal([400, 'validation_failed', { issues: [{ path: 'url', message }] }]);
    }
  });

  it('says that a name does not resolve when nobody answers for it, within seconds (D55)', async () => {
    far.names.set('silent.example.test', () => 'silence');
    const startMs = performance.now();
    expect(outcome(await register({ url: 'https://silent.example.test/bad' }))).to.deep.equal([400, 'validation_failed', { issues: [{ path: 'url', message: UNRESOLVED }] }]);
    expect(performance.now() - startMs).to.be.below(12_000);
  });

  it('looks a test key\'s URL up as well (D55)', async () => {
    const tester = new WebhookClient(service.baseUrl, (await (await operator.newOrganization()).newKey('test')).secret);
    const answer = await tester.send<ErrorBody>('POST', '/v1/webhooks', { json: { url: 'https://nowhere.example.test/bad' } });
    expect(outcome(answer)).to.deep.equal([400, 'validation_failed', { issues: [{ path: 'url', message: UNRESOLVED }] }]);
  });

  it('names a URL that is missing or no text', async () => {
    for (const url of [undefined, null, 5, true, {}, ['https://public.example.test/'], '']) expect(await pathsOf({ url }), JSON.stringify(url)).to.deep.equal(['url']);
  });

  it('names events that are none, empty or unknown (D54)', async () => {
    const url = far.url('/bad');
    for (const events of [[], null, 'job.finished', {}, 5]) expect(await pathsOf({ url, events }), JSON.stringify(events)).to.deep.equal(['events']);
    expect(await pathsOf({ url, events: ['job.finished', 'job.expired', 'JOB.CREATED', 7, null] })).to.deep.equal(['events.1', 'events.2', 'events.3', 'events.4']);
    expect(await pathsOf({ url, events: Array.from({ length: 1000 }, () => 'job.created') })).to.deep.equal(['events']);
  });

  it('names a description that is too long or no text', async () => {
    const url = far.url('/bad');
    for (const description of [null, 5, [], {}, 'x'.repeat(1001), '☂'.repeat(1001)]) expect(await pathsOf({ url, description })).to.deep.equal(['description']);
    const nul = await register({ url, description: 'a\0b' });
    expect(outcome(nul)).to.deep.equal([400, 'validation_failed', { issues: [{ path: 'description', message: 'must not contain the character U+0000 or half of a surrogate pair' }] }]);
  });

  it('names every problem at once (D75)', async () => {
    expect(await pathsOf({ events: [], description: 5 })).to.deep.equal(['url', 'events', 'description']);
  });

  it('refuses a body that is none (D52)', async () => {
    for (const body of ['', '[]', 'null', '"https://public.example.test/"', '{"url":']) {
      const answer = await client.send<ErrorBody>('POST', '/v1/webhooks', { body, headers: { 'Content-Type': 'application/json' } });
      expect([answer.status, answer.body.error.code], body).to.deep.equal([400, 'validation_failed']);
    }
    const form = await client.send<ErrorBody>('POST', '/v1/webhooks', { body: 'url=x', headers: { 'Content-Type': 'application/x-www-form-urlencoded' } });
    expect(form.status).to.equal(400);
    const large = await client.send<ErrorBody>('POST', '/v1/webhooks', { json: { url: far.url('/bad'), description: 'x'.repeat(2 ** 20) } });
    expect([large.status, large.body.error.details?.['reason']]).to.deep.equal([413, 'body_too_large']);
  });
});

describe('Registering a webhook endpoint with unusual input (§4.6 POST /webhooks)', function () {
  this.timeout(120_000);
  let far: EgressBench;
  let operator: TestOperator;
  let client: WebhookClient;

  before(async () => {
    const shared = await sharedWebhookService();
    far = shared.far;
    operator = await openOperator(shared.service);
    client = new WebhookClient(shared.service.baseUrl, (await (await operator.newOrganization()).newKey('live')).secret);
  });
  after(() => operator.stop());

  it('ignores fields that it does not know, and sets none of its own by them (D22)', async () => {
    const webhook = await client.register(far.url('/unusual'), { id: 'mine', secret: 'whsec_mine', enabled: false, mode: 'test', __proto__: { events: [] }, unknown: { deep: [1] } });
    expect(webhook).to.include({ enabled: true });
    expect([webhook.id, webhook.secret]).not.to.include.members(['mine', 'whsec_mine']);
    expect(webhook).not.to.have.any.keys('mode', 'unknown');
  });

  it('echoes the URL as it was given, and text of any script up to 1000 characters (D6)', async () => {
    for (const [path, description] of [['/UPPER?q=%20&r=ü', 'ß'.repeat(1000)], ['/#fragment', '😀'.repeat(1000)], ['/', '']] as const) {
      const webhook = await client.register(far.url(path), { description });
      expect([webhook.url, webhook.description]).to.deep.equal([far.url(path), description]);
    }
    const upper = far.url('/').replace('https://files', 'HTTPS://FILES');
    expect((await client.register(upper)).url).to.equal(upper);
  });
});
