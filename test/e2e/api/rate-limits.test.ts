import { expect } from 'chai';
import { waitFor } from '../../../services/standalone/processes.ts';
import { waitUntilApplied } from '../../../shared/accounts/applied.ts';
import { createApiKey, createOrganization } from '../../../shared/accounts/manage.ts';
import { newId } from '../../../shared/ids/ids.ts';
import { untilMinuteHas } from '../../support/calendar-minute.ts';
import { tasksOf, TestClient, type Answer, type Ask, type ErrorBody } from '../../support/client.ts';
import { inParallel } from '../../support/in-parallel.ts';
import { openApiCheck, type OpenApiCheck } from '../../support/openapi-check.ts';
import { openOperator, type TestOperator } from '../../support/organization.ts';
import { startSecondApi, type SecondApi } from '../../support/second-api.ts';
import { startService, type TestService } from '../../support/service.ts';

const LIMITS = { RATE_LIMIT_CREATE_FREE: '30', RATE_LIMIT_CREATE_ACTIVE: '120', RATE_LIMIT_OTHER: '300', IP_FAILURE_LIMIT: '30', TRUSTED_PROXIES: '127.0.0.0/8,::1/128' };
/** Hundreds of requests to two processes take two seconds; a busy machine takes longer. */
const BURST_MS = 25_000;
/** So long a test waits for another process to know what one of them knows. */
const TOLD_MS_MAX = 1_000;
/** A copy follows within milliseconds. */
const KNOWN_MS_MAX = 30_000;
const AT_ONCE = 20;

describe('Rate limits of two api processes', function () {
  this.timeout(120_000);
  let service: TestService;
  let second: SecondApi;
  let operator: TestOperator;
  let check: OpenApiCheck;

  before(async () => {
    service = await startService({ settings: { LOG_LEVEL: 'warn', ...LIMITS } });
    second = await startSecondApi(service, LIMITS);
    operator = await openOperator(service);
    check = await openApiCheck(service.baseUrl);
  });
  after(async () => {
    await operator.stop();
    await second.stop();
    await service.stop();
  });

  /** A key that no process was asked for before. */
  async function newKey(plan: 'free' | 'active', scopes: readonly ('job.read' | 'job.write')[] = ['job.read', 'job.write']): Promise<string> {
    const organizationId = newId(Date.now());
    await createOrganization(operator.accounts, organizationId, 'A test', plan);
    const { secret, position } = await createApiKey(operator.accounts, organizationId, { key_mode: 'test', scopes: [...scopes] });
    await waitFor('both processes knowing a new key', KNOWN_MS_MAX, async () => (await waitUntilApplied(operator.nc, position)).length === 0 || undefined);
    return secret;
  }

  const clients = (secret?: string): readonly [TestClient, TestClient] => [new TestClient(service.baseUrl, secret, check), new TestClient(second.baseUrl, secret, check)];

  /** The same request many times, to both processes in turn. */
  async function burst(secret: string, count: number, method: string, path: string, json?: object): Promise<Answer<ErrorBody>[]> {
    const both = clients(secret);
    await untilMinuteHas(BURST_MS);
    return inParallel(count, AT_ONCE, (index) => both[index % 2 === 0 ? 0 : 1].send<ErrorBody>(method, path, json === undefined ? {} : { json }));
  }

  it('let a free-tier key ask 30 times to create a job, and count what is refused too (§7 rate_limited 429, §8 rate limits 1, §8 rate limits 3, D78)', async () => {
    const secret = await newKey('free');
    expectExact(await burst(secret, 40, 'POST', '/v1/jobs', {}), 30, 400);
    const [one] = clients(secret);
    const other = await one.send('GET', '/v1/jobs');
    expect([other.status, other.headers.get('x-ratelimit-limit'), other.headers.get('x-ratelimit-remaining')]).to.deep.equal([200, '300', '299']);
  });

  it('let a key of an active plan ask 120 times (§8 rate limits 1)', async () => {
    expectExact(await burst(await newKey('active'), 140, 'POST', '/v1/jobs', {}), 120, 400);
  });

  it('let a key ask 300 times for all the rest (§8 rate limits 1)', async () => {
    const secret = await newKey('active');
    expectExact(await burst(secret, 320, 'GET', `/v1/jobs/${newId(0)}`), 300, 404);
    const [one] = clients(secret);
    expect((await one.send('GET', '/v1/operations')).status).to.equal(200);
    // The other budget and the other keys have theirs.
    expect((await one.send('POST', '/v1/jobs', { json: {} })).status).to.equal(400);
    expect((await clients(await newKey('active'))[0].send('GET', '/v1/jobs')).status).to.equal(200);
  });

  it('say with every answer to a known caller how its budget stands (§8 rate limits 2, D78)', async () => {
    const secret = await newKey('active');
    const [one] = clients(secret);
    const [reader] = clients(await newKey('active', ['job.read']));
    const job = await one.createJob(tasksOf('jpg', 'png'));
    await untilMinuteHas(BURST_MS);
    const before = await one.send('GET', '/v1/me');
    const asked: readonly (readonly [TestClient, string, string, number])[] = [
      [one, 'GET', `/v1/jobs/${job.id}`, 200],
      [one, 'HEAD', `/v1/jobs/${job.id}`, 200],
      [one, 'GET', `/v1/jobs/${job.id}?wait=99`, 400],
      [one, 'GET', `/v1/jobs/${newId(0)}`, 404],
      [one, 'GET', '/v1/nothing', 404],
      [one, 'PATCH', '/v1/jobs', 405],
      [one, 'POST', `/v1/jobs/${job.id}/cancel`, 200],
      [one, 'POST', `/v1/jobs/${job.id}/cancel`, 409],
      [one, 'DELETE', `/v1/jobs/${job.id}`, 204],
    ];
    for (const [index, [client, method, path, status]] of asked.entries()) {
      const { status: answered, headers } = await client.send(method, path);
      expect([answered, headers.get('x-ratelimit-limit'), headers.get('x-ratelimit-remaining')], `${method} ${path}`).to.deep.equal([status, '300', String(Number(before.headers.get('x-ratelimit-remaining')) - index - 1)]);
      expect(headers.get('x-ratelimit-reset')).to.equal(before.headers.get('x-ratelimit-reset'));
    }
    const forbidden = await reader.send('POST', '/v1/jobs', { json: {} });
    expect([forbidden.status, forbidden.headers.get('x-ratelimit-limit')]).to.deep.equal([403, '120']);
    const large = await one.send('POST', '/v1/jobs', { body: 'x'.repeat(2 ** 20 + 1), headers: { 'Content-Type': 'application/json' } });
    expect([large.status, large.headers.get('x-ratelimit-limit')]).to.deep.equal([413, '120']);
  });

  it('count a request that waits once, and say at its end how its budget stands then (§8 rate limits 4, D34)', async () => {
    const secret = await newKey('active');
    const [one, two] = clients(secret);
    const job = await one.createJob(tasksOf('jpg', 'png'));
    await untilMinuteHas(BURST_MS);
    const waiting = one.send('GET', `/v1/jobs/${job.id}?wait=3`);
    const meanwhile = await inParallel(5, 1, () => two.send('GET', `/v1/jobs/${job.id}`));
    const held = await waiting;
    expect(meanwhile.every(({ status }) => status === 200)).to.equal(true);
    expect([held.status, held.headers.get('x-ratelimit-remaining')]).to.deep.equal([200, '294']);
  });

  it('leave public addresses out (§8 rate limits 1)', async () => {
    const [one] = clients(await newKey('active'));
    for (const path of ['/v1/operations', '/v1/openapi.json', '/healthz']) expect((await one.send('GET', path)).headers.has('x-ratelimit-limit'), path).to.equal(false);
  });

  describe('shut an address out', () => {
    let secret: string;
    before(async () => {
      secret = await newKey('active');
    });
    beforeEach(() => untilMinuteHas(BURST_MS));

    it('after exactly 30 failures, from both processes and with a valid key too (§7 rate_limited 429, §8 rate limits 5, D61)', async () => {
      const nobody = clients();
      // The second process knows the address before it fails.
      expect((await clients(secret)[1].send('GET', '/v1/me', from('203.0.113.1'))).status).to.equal(200);
      const answers = await inParallel(45, 15, (index) => nobody[index % 2 === 0 ? 0 : 1].send<ErrorBody>('GET', '/v1/me', from('203.0.113.1')));
      expect(answers.filter(({ status }) => status === 401)).to.have.length(30);
      expect(answers.filter(({ status }) => status === 429)).to.have.length(15);
      const doneMs = performance.now();
      for (const client of clients(secret)) {
        let answer = await client.send<ErrorBody>('GET', '/v1/me', from('203.0.113.1'));
        while (answer.status === 200 && performance.now() - doneMs < TOLD_MS_MAX) answer = await client.send<ErrorBody>('GET', '/v1/me', from('203.0.113.1'));
        const reset = (Math.floor(Date.now() / 60_000) + 1) * 60;
        expect([answer.status, answer.body.error.code, answer.body.error.details]).to.deep.equal([429, 'rate_limited', { reason: 'ip_throttled', limit: 30, reset }]);
        expect(Number(answer.headers.get('retry-after'))).to.be.within(1, 60);
        expect([answer.headers.has('x-ratelimit-limit'), answer.headers.has('x-ratelimit-remaining')]).to.deep.equal([false, false]);
        expect((await client.send('GET', '/v1/me', from('203.0.113.2'))).status).to.equal(200);
      }
    });

    it('by the entry of X-Forwarded-For that the proxy wrote, whatever stands before it (D61)', async () => {
      const [nobody] = clients();
      const statuses = await inParallel(31, 1, async (index) => (await nobody.send('GET', '/v1/me', from(`198.51.100.${index}, 203.0.113.3`))).status);
      expect(statuses).to.deep.equal([...Array.from({ length: 30 }, () => 401), 429]);
      expect((await clients(secret)[0].send('GET', '/v1/me', from('198.51.100.1'))).status).to.equal(200);
    });

    it('with its whole /64 where it is IPv6, and however it is written where it is IPv4 (D61)', async () => {
      const [nobody] = clients();
      for (const write of [(index: number) => `2001:db8:5:6:${index}::1`, (index: number) => (index % 2 === 0 ? '203.0.113.4' : '::ffff:203.0.113.4')]) {
        const statuses = await inParallel(31, 1, async (index) => (await nobody.send('GET', '/v1/me', from(write(index)))).status);
        expect(statuses.at(-1)).to.equal(429);
      }
      expect((await nobody.send('GET', '/v1/me', from('2001:db8:5:7::1'))).status).to.equal(401);
    });

    it('but not from public addresses, signed links, and questions of browsers, and not for 403 (D61)', async () => {
      const [nobody] = clients();
      const [reader] = clients(await newKey('active', ['job.read']));
      const forbidden = await inParallel(31, 8, async () => (await reader.send('DELETE', `/v1/jobs/${newId(0)}`, from('203.0.113.5'))).status);
      expect(new Set(forbidden)).to.deep.equal(new Set([403]));
      await inParallel(31, 8, () => nobody.send('GET', '/v1/me', from('203.0.113.5')));
      expect((await reader.send('GET', '/v1/me', from('203.0.113.5'))).status).to.equal(429);
      for (const [method, path, status] of [['GET', '/v1/operations', 200], ['GET', '/healthz', 200], ['OPTIONS', '/v1/jobs', 204], ['GET', '/files/result/x/1', 404]] as const) {
        expect((await nobody.send(method, path, from('203.0.113.5'))).status, path).to.equal(status);
      }
    });
  });

  describe('while NATS is away', () => {
    it('answer 503 to valid and other keys alike, and begin at 0 when it is back (D4, D77)', async () => {
      const secret = await newKey('active');
      const [one] = clients(secret);
      const [nobody] = clients();
      await one.send('GET', '/v1/jobs');
      service.kill('nats-server', 'SIGSTOP');
      for (const client of [one, nobody]) {
        const { status, headers } = await client.send('GET', '/v1/jobs');
        expect([status, Number(headers.get('retry-after')) > 0]).to.deep.equal([503, true]);
      }
      service.kill('nats-server');
      await service.untilReady();
      await untilMinuteHas(BURST_MS);
      const back = await one.send('GET', '/v1/jobs');
      expect(back.status).to.equal(200);
      expect(Number(back.headers.get('x-ratelimit-remaining'))).to.be.within(297, 299);
    });
  });
});

/** As the trusted proxy of the test passes it on. */
function from(address: string): Ask {
  return { headers: { 'X-Forwarded-For': address } };
}

/** Each number of requests left was given once, and who got none of them was refused as §8 says. */
function expectExact(answers: readonly Answer<ErrorBody>[], limit: number, status: number): void {
  const within = answers.filter((answer) => answer.status === status);
  expect(within.map(({ headers }) => Number(headers.get('x-ratelimit-remaining'))).toSorted((one, other) => one - other)).to.deep.equal(Array.from({ length: limit }, (_none, index) => index));
  const resets = new Set(answers.map(({ headers }) => Number(headers.get('x-ratelimit-reset'))));
  expect(resets).to.have.length(1);
  const [reset = 0] = resets;
  expect(reset % 60).to.equal(0);
  const refused = answers.filter((answer) => answer.status !== status);
  expect(refused).to.have.length(answers.length - limit);
  for (const { status: refusal, headers, body } of refused) {
    expect([refusal, body.error.code, body.error.details]).to.deep.equal([429, 'rate_limited', { reason: 'key_rate_limited', limit, reset }]);
    expect([headers.get('x-ratelimit-limit'), headers.get('x-ratelimit-remaining')]).to.deep.equal([String(limit), '0']);
    expect(Number(headers.get('retry-after'))).to.be.within(1, 60);
  }
}
