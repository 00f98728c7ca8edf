import { request as httpRequest } from 'node:http';
import { expect } from 'chai';
import type { JobView } from '../../../shared/domain/job-view.ts';
import { rotateApiKey } from '../../../shared/accounts/manage.ts';
import { systemClock } from '../../../shared/clock/clock.ts';
import { newId } from '../../../shared/ids/ids.ts';
import { grantCredits } from '../../../shared/ledger-client/ledger-client.ts';
import { waitFor } from '../../../services/standalone/processes.ts';
import { tasksOf, TestClient, uploadUrlOf, type Answer, type ErrorBody } from '../../support/client.ts';
import { IdempotencyNotes } from '../../support/idempotency-notes.ts';
import { BODY, OTHER_BODY, post, requireConflict, totalOf } from '../../support/idempotent-requests.ts';
import { openApiCheck, type OpenApiCheck } from '../../support/openapi-check.ts';
import { openOperator, type TestKey, type TestOperator, type TestOrganization } from '../../support/organization.ts';
import { startSecondApi } from '../../support/second-api.ts';
import { NO_LIMITS, sharedService, type TestService } from '../../support/service.ts';

type Own = { readonly organization: TestOrganization; readonly key: TestKey; readonly client: TestClient };

type Json = Readonly<Record<string, unknown>>;

const KNOWN_LIMIT_MS = 30_000;
const RIVALS = 20;

describe('Idempotency-Key (§8)', function () {
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

  async function open(credits = 20, mode: 'live' | 'test' = 'live'): Promise<Own> {
    const organization = await operator.newOrganization(credits);
    const key = await organization.newKey(mode);
    return { organization, key, client: new TestClient(service.baseUrl, key.secret, check) };
  }

  describe('used again with the same body (§8 idempotency 1)', () => {
    it('gets the original answer, byte for byte, and makes no new job (D81)', async () => {
      const { client } = await open();
      const first = await post(client, 'k');
      const again = await post(client, 'k');
      expect([first.status, again.status]).to.deep.equal([201, 201]);
      expect(again.bytes.equals(first.bytes)).to.equal(true);
      expect(uploadUrlOf(again.body)).to.equal(uploadUrlOf(first.body));
      expect([first.headers.get('idempotent-replayed'), again.headers.get('idempotent-replayed')]).to.deep.equal([null, 'true']);
      expect(again.headers.get('location')).to.equal(`${service.baseUrl}/v1/jobs/${first.body.id}`);
      expect(again.headers.get('x-request-id')).not.to.equal(first.headers.get('x-request-id'));
      expect(await totalOf(client)).to.equal(1);
      expect((await client.send<{ credits: { balance: number } }>('GET', '/v1/me')).body.credits.balance).to.equal(19);
    });

    it('gets it also when order and spacing differ (D80)', async () => {
      const { client } = await open();
      const first = await post(client, 'k');
      const body = `  ${JSON.stringify({ tag: BODY['tag'], tasks: Object.fromEntries(Object.entries(tasksOf('jpg', 'png', { unknown: 1 })).toReversed()) }, undefined, 2)}\n`;
      const again = await client.send<JobView>('POST', '/v1/jobs', { body, headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'k' } });
      expect(again.bytes.equals(first.bytes)).to.equal(true);
    });

    it('gets it as it was then, also when the job was cancelled or deleted since (D36, D81)', async () => {
      const { client } = await open();
      const first = await post(client, 'k');
      await client.send('POST', `/v1/jobs/${first.body.id}/cancel`);
      expect((await post(client, 'k')).bytes.equals(first.bytes)).to.equal(true);
      expect((await client.send('DELETE', `/v1/jobs/${first.body.id}`)).status).to.equal(204);
      const again = await post(client, 'k');
      expect(again.bytes.equals(first.bytes)).to.equal(true);
      expect(again.headers.get('idempotent-replayed')).to.equal('true');
      expect((await client.send('GET', `/v1/jobs/${first.body.id}`)).status).to.equal(404);
      expect(await totalOf(client)).to.equal(0);
    });

    it('gets it before credits and the cap of active jobs are looked at (D2)', async () => {
      const organization = await operator.newOrganization(5, 'free');
      const client = new TestClient(service.baseUrl, (await organization.newKey('live')).secret, check);
      const firsts = [];
      for (let job = 0; job < 5; job += 1) firsts.push(await post(client, `k${job}`));
      expect((await post<ErrorBody>(client, 'new')).status).to.equal(429);
      for (const [job, first] of firsts.entries()) expect((await post(client, `k${job}`)).bytes.equals(first.bytes)).to.equal(true);
    });

    it('spends from the creation budget like any other, with fresh headers (§8 rate limits 4)', async () => {
      const { client } = await open();
      const answers = [await post(client, 'k'), await post(client, 'k'), await post(client, 'k')];
      const [first = NaN, ...replays] = answers.map(({ headers }) => Number(headers.get('x-ratelimit-remaining')));
      // Less the requests that counted, unless the minute has just begun anew.
      if (new Set(answers.map(({ headers }) => headers.get('x-ratelimit-reset'))).size === 1) expect(replays).to.deep.equal([first - 1, first - 2]);
    });

    it('works with test keys, and keeps test and live jobs apart', async () => {
      const { client: tester, organization } = await open(5, 'test');
      const live = new TestClient(service.baseUrl, (await organization.newKey('live')).secret, check);
      const [test, real] = [await post(tester, 'k'), await post(live, 'k')];
      expect([test.body.test_mode, real.body.test_mode]).to.deep.equal([true, false]);
      expect((await post(tester, 'k')).bytes.equals(test.bytes)).to.equal(true);
      expect((await post(live, 'k')).bytes.equals(real.bytes)).to.equal(true);
    });
  });

  it('used again for an import by URL gets the original answer, which has no upload URL (D18)', async () => {
    const { client } = await open(5, 'test');
    const first = await post(client, 'k', fetching('https://files.example/a.jpg'));
    expect([first.status, first.body.tasks?.[0]?.status], first.bytes.toString()).to.deep.equal([201, 'processing']);
    expect(first.bytes.toString()).not.to.include('uploadUrl');
    expect((await post(client, 'k', fetching('https://files.example/a.jpg'))).bytes.equals(first.bytes)).to.equal(true);
    requireConflict(await post<ErrorBody>(client, 'k', fetching('https://files.example/b.jpg')), 422);
  });

  it('used again with a different body is refused with 422, and leaves the first job alone (§7 idempotency_conflict 422, §8 idempotency 2)', async () => {
    const { client } = await open();
    const first = await post(client, 'k');
    // Also with a body that would not be valid: the key is looked at before validation (D1).
    for (const body of [OTHER_BODY, { ...BODY, more: 1 }, {}]) requireConflict(await post<ErrorBody>(client, 'k', body), 422);
    expect((await post(client, 'k')).bytes.equals(first.bytes)).to.equal(true);
    expect(await totalOf(client)).to.equal(1);
  });

  it('used again while the first request runs is refused with 409 and Retry-After: 1, whatever the body (§7 idempotency_conflict 409, §8 idempotency 3, D77, D80)', async () => {
    const { client, key } = await open();
    const notes = await IdempotencyNotes.open(service, operator.nc);
    await notes.leaveRunning(notes.request(key.id, 'k', BODY), newId(Date.now()), 60_000);
    for (const body of [BODY, OTHER_BODY]) requireConflict(await post<ErrorBody>(client, 'k', body), 409);
    expect(await totalOf(client)).to.equal(0);
  });

  it(`used ${RIVALS} times at once on two api processes makes one job (D29)`, async () => {
    const { client, key } = await open();
    const second = await startSecondApi(service, NO_LIMITS);
    try {
      const other = new TestClient(second.baseUrl, key.secret);
      for (let round = 0; round < 5; round += 1) {
        const answers = await Promise.all(Array.from({ length: RIVALS }, (_, index) => post<JobView & ErrorBody>(index % 2 === 0 ? client : other, `round ${round}`)));
        const created = answers.filter(({ status, headers }) => status === 201 && !headers.has('idempotent-replayed'));
        expect(created).to.have.length(1);
        for (const answer of answers) if (answer.status === 201) expect(answer.bytes.equals(created[0]?.bytes ?? Buffer.alloc(0))).to.equal(true);
          else requireConflict(answer, 409);
        expect(await totalOf(client)).to.equal(round + 1);
        // Whoever asks the other process later gets the same.
        expect((await post(other, `round ${round}`)).bytes.equals(created[0]?.bytes ?? Buffer.alloc(0))).to.equal(true);
      }
    } finally {
      await second.stop();
    }
  });

  describe('of a request that failed is free at once (§8 idempotency 4)', () => {
    it('after validation', async () => {
      const { client } = await open();
      expect((await post(client, 'k', { tasks: {} })).status).to.equal(400);
      expect((await post(client, 'k', { tasks: tasksOf('jpg', 'exe') })).status).to.equal(400);
      const answer = await post(client, 'k');
      expect([answer.status, answer.headers.get('idempotent-replayed')]).to.deep.equal([201, null]);
    });

    it('after 402', async () => {
      const { client, organization } = await open(0);
      expect((await post(client, 'k')).status).to.equal(402);
      await grantCredits(operator.nc, { organization_id: organization.id, amount: 1, command_id: newId(Date.now()), correlation_id: newId(Date.now()), actor: 'operator' });
      expect((await post(client, 'k', OTHER_BODY)).status).to.equal(201);
    });
  });

  describe('has 1 to 255 printable ASCII characters (§8, §8 idempotency-key)', () => {
    for (const [name, value] of [['one character', '!'], ['255 characters', `~${' x'.repeat(127)}`], ['quotes, which are a part of it (D79)', '"k"']] as const) {
      it(`and may have ${name}`, async () => {
        const { client } = await open();
        const first = await post(client, value);
        expect([first.status, (await post(client, value)).bytes.equals(first.bytes)]).to.deep.equal([201, true]);
      });
    }

    for (const [name, value] of [['is empty', ''], ['has 256 characters', 'x'.repeat(256)], ['has a tab', 'a\tb'], ['has a letter beyond ASCII', 'é']] as const) {
      it(`and is refused when it ${name}, before the body is validated (D1)`, async () => {
        const { client } = await open();
        const answer = await post<ErrorBody>(client, value, {});
        expect([answer.status, answer.body.error.code]).to.deep.equal([400, 'validation_failed']);
        expect(issuePathsOf(answer)).to.deep.equal(['Idempotency-Key']);
      });
    }

    it('and is refused when it is given twice', async () => {
      const { key } = await open();
      const { status, body } = await postRaw(service.baseUrl, key.secret, ['Idempotency-Key', 'a', 'idempotency-key', 'a']);
      expect([status, body.error.details]).to.deep.equal([400, { issues: [{ path: 'Idempotency-Key', message: 'must be given only once' }] }]);
    });

    it('and is looked at after the syntax of the body (D1)', async () => {
      const { client } = await open();
      const answer = await client.send<ErrorBody>('POST', '/v1/jobs', { body: '{', headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'é' } });
      expect(issuePathsOf(answer)).to.deep.equal(['body']);
    });
  });

  it('belongs to the API key that used it, also after a rotation (§8 idempotency-key, D11, D79)', async () => {
    const { client, key, organization } = await open();
    const first = await post(client, 'k');
    const sibling = new TestClient(service.baseUrl, (await organization.newKey('live')).secret, check);
    expect((await post(sibling, 'k')).body.id).not.to.equal(first.body.id);
    const rotated = await rotateApiKey(operator.accounts, organization.id, key.id, 'live');
    const client2 = new TestClient(service.baseUrl, rotated.secret, check);
    await waitFor('the new secret', KNOWN_LIMIT_MS, async () => (await client2.send('GET', '/v1/me')).status === 200 || undefined);
    expect((await post(client2, 'k')).bytes.equals(first.bytes)).to.equal(true);
  });

  it('is taken by POST /jobs alone: a second cancel is 409 with or without it (§8)', async () => {
    const { client } = await open();
    const { body } = await post(client, 'k');
    const cancel = (): Promise<Answer<ErrorBody>> => client.send<ErrorBody>('POST', `/v1/jobs/${body.id}/cancel`, { headers: { 'Idempotency-Key': 'c' } });
    expect((await cancel()).status).to.equal(200);
    expect((await cancel()).body.error.details).to.deep.equal({ reason: 'already_terminal', status: 'cancelled' });
  });

  it('is forgotten after IDEMPOTENCY_TTL_SECONDS (§8, §8 idempotency-key)', async () => {
    const { client, key } = await open();
    const forgetful = await startSecondApi(service, { ...NO_LIMITS, IDEMPOTENCY_TTL_SECONDS: '2' });
    try {
      const other = new TestClient(forgetful.baseUrl, key.secret);
      const startedMs = systemClock.nowMs();
      const first = await post(other, 'k');
      const again = await post(client, 'k');
      expect([again.body.id === first.body.id, again.headers.get('idempotent-replayed')]).to.deep.equal([true, 'true']);
      const next = await waitFor('the key being forgotten', KNOWN_LIMIT_MS, async () => {
        const answer = await post(client, 'k', OTHER_BODY);
        return answer.status === 201 ? answer : undefined;
      });
      expect(systemClock.nowMs() - startedMs).to.be.at.least(2_000);
      expect(next.headers.get('idempotent-replayed')).to.equal(null);
      expect(next.body.id).not.to.equal(first.body.id);
    } finally {
      await forgetful.stop();
    }
  });
});

/** A body whose file is fetched. */
function fetching(url: string): Json {
  return { tasks: { ...tasksOf('jpg', 'png'), 'import-1': { operation: 'import/url', url } } };
}

function issuePathsOf(answer: Answer<ErrorBody>): readonly string[] {
  return ((answer.body.error.details?.['issues'] ?? []) as readonly { readonly path: string }[]).map(({ path }) => path);
}

/** A request whose headers are sent as they stand; fetch would join what is given twice. */
function postRaw(baseUrl: string, secret: string, headers: readonly string[]): Promise<{ readonly status: number; readonly body: ErrorBody }> {
  return new Promise((resolve, reject) => {
    const body = JSON.stringify(BODY);
    const all = ['Host', new URL(baseUrl).host, 'X-API-Key', secret, 'Content-Type', 'application/json', 'Content-Length', String(body.length), ...headers];
    const sent = httpRequest(`${baseUrl}/v1/jobs`, { method: 'POST', headers: all }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) as ErrorBody }));
    });
    sent.on('error', reject).end(body);
  });
}
