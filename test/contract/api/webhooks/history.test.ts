import { expect } from 'chai';
import type { JobView } from '../../../../shared/domain/job-view.ts';
import { tasksOf, type ErrorBody } from '../../../support/client.ts';
import type { EgressBench } from '../../../support/egress-bench.ts';
import { openOperator, type TestOperator } from '../../../support/organization.ts';
import { paths } from '../../../support/multipart.ts';
import type { TestService } from '../../../support/service.ts';
import { WebhookClient, type CreatedWebhook, type Queued } from '../../../support/webhook-client.ts';
import { verifyByLibraries, WebhookReceiver } from '../../../support/webhook-receiver.ts';
import { sharedWebhookService } from '../../../support/webhook-service.ts';
import { waitFor } from '../../../../services/standalone/processes.ts';

type Replayed = { readonly queued: number; readonly next_since: string | null };

const UNKNOWN_ID = '0190b3a4-7c1e-7d1f-8a2b-3c4d5e6f7a8b';
const FIELDS = ['id', 'event_id', 'event', 'job_id', 'test', 'replay_of', 'status', 'attempts', 'response_status', 'failure', 'duration_ms', 'queued_at', 'last_attempt_at', 'next_attempt_at'];
/** One more than a replay takes at once. */
const MANY = 101;
const ARRIVAL_LIMIT_MS = 90_000;

describe('The history of a webhook endpoint (§6 delivery 4)', function () {
  this.timeout(240_000);
  let service: TestService;
  let far: EgressBench;
  let operator: TestOperator;
  let client: WebhookClient;
  let receiver: WebhookReceiver;
  let webhook: CreatedWebhook;
  let count = 0;

  before(async () => {
    ({ service, far } = await sharedWebhookService());
    operator = await openOperator(service);
  });
  beforeEach(async () => {
    client = new WebhookClient(service.baseUrl, (await (await operator.newOrganization(1000)).newKey('live')).secret);
    receiver = new WebhookReceiver(far, `/history/${(count += 1)}`);
    webhook = await client.register(receiver.url, { events: ['job.created'] });
  });
  afterEach(() => client.remove(webhook.id));
  after(() => operator.stop());

  const newJob = (): Promise<JobView> => client.createJob(tasksOf('jpg', 'png'));
  const replay = (deliveryId: string) => client.send<Queued & ErrorBody>('POST', `/v1/webhooks/${webhook.id}/deliveries/${deliveryId}/replay`);

  /** Tried again while the read model is behind, as a client would. */
  function replaySince(json: unknown) {
    return waitFor('a replay', ARRIVAL_LIMIT_MS, async () => {
      const answer = await client.send<Replayed & ErrorBody>('POST', `/v1/webhooks/${webhook.id}/replay`, { json });
      return answer.status === 503 ? undefined : answer;
    });
  }

  async function untilEnded(howMany: number): Promise<void> {
    await waitFor(`${howMany} deliveries`, ARRIVAL_LIMIT_MS, async () => ((await client.history(webhook.id, '?status=delivered')).total >= howMany ? true : undefined));
  }

  it('has every delivery with all its fields, newest first, by pages', async () => {
    expect(await client.history(webhook.id)).to.deep.equal({ data: [], page: 1, per_page: 20, total: 0 });
    const jobs = [await newJob(), await newJob(), await newJob()];
    await untilEnded(3);
    const { data, total } = await client.history(webhook.id);
    expect([total, data.map(({ job_id }) => job_id)]).to.deep.equal([3, jobs.toReversed().map(({ id }) => id)]);
    for (const delivery of data) {
      expect(delivery).to.have.all.keys(FIELDS);
      expect(delivery).to.include({ event: 'job.created', test: false, replay_of: null, status: 'delivered', attempts: 1, response_status: 200, failure: null, next_attempt_at: null });
      expect(Date.parse(delivery.last_attempt_at ?? '')).to.be.at.least(Date.parse(delivery.queued_at));
    }
    expect(new Set(data.map(({ event_id }) => event_id))).to.deep.equal(new Set(receiver.events().map(({ id }) => id)));
    const second = await client.history(webhook.id, '?page=2&per_page=2');
    expect([second.data.map(({ id }) => id), second.page, second.per_page, second.total]).to.deep.equal([[data[2]?.id], 2, 2, 3]);
    expect((await client.history(webhook.id, '?page=9')).data).to.deep.equal([]);
  });

  it('says why an attempt failed and when the next one is due (§6 delivery 2, D70)', async () => {
    receiver.answer(503);
    await newJob();
    const delivery = await client.untilHistory(webhook.id, ({ status }) => status === 'retrying');
    expect(delivery).to.include({ attempts: 1, response_status: 503, failure: 'http_status' });
    expect(Date.parse(delivery.next_attempt_at ?? '') - Date.parse(delivery.last_attempt_at ?? '')).to.be.within(59_000, 61_000);
    expect((await client.history(webhook.id, '?status=retrying')).total).to.equal(1);
    expect((await client.history(webhook.id, '?status=failed')).total).to.equal(0);
  });

  it('knows at once what a request has queued (D49)', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { delivery_id } = await client.test(webhook.id);
      expect((await client.history(webhook.id)).data.map(({ id }) => id)).to.include(delivery_id);
    }
  });

  it('refuses a query that is out of range, and names it (§7 validation_failed 400, D48)', async () => {
    for (const [query, path] of [['page=0', 'page'], ['per_page=101', 'per_page'], ['per_page=x', 'per_page'], ['status=open', 'status'], ['page=1&page=2', 'page']] as const) {
      const answer = await client.send<ErrorBody>('GET', `/v1/webhooks/${webhook.id}/deliveries?${query}`);
      expect([answer.status, answer.body.error.code, paths(answer)], query).to.deep.equal([400, 'validation_failed', [path]]);
    }
    expect((await client.history(webhook.id, '?unknown=1')).total).to.equal(0);
  });

  it('lets one delivery be sent once more: the same event, byte for byte, under a new signature (D66, D69)', async () => {
    await newJob();
    await untilEnded(1);
    const [delivery] = (await client.history(webhook.id)).data;
    const answer = await replay(delivery?.id ?? '');
    expect([answer.status, answer.body]).to.deep.equal([202, { delivery_id: answer.body.delivery_id, status: 'queued' }]);
    const again = await client.untilDelivery(webhook.id, answer.body.delivery_id, 'delivered');
    expect(again).to.include({ event_id: delivery?.event_id, job_id: delivery?.job_id, replay_of: delivery?.id, attempts: 1 });
    const [first, second] = receiver.requests();
    expect(second?.body.equals(first?.body ?? Buffer.alloc(0))).to.equal(true);
    for (const request of [first, second]) if (request) verifyByLibraries(request, webhook.secret);
    const third = await replay(again.id);
    expect((await client.untilDelivery(webhook.id, third.body.delivery_id, 'delivered')).event_id).to.equal(delivery?.event_id);
    expect(receiver.requests()).to.have.length(3);
  });

  it('sends an event that was delivered also when its job was deleted since (D73)', async () => {
    const job = await client.createJob(tasksOf('jpg', 'png'), { tag: 'still here' });
    await untilEnded(1);
    const [delivery] = (await client.history(webhook.id)).data;
    expect((await client.send('DELETE', `/v1/jobs/${job.id}`)).status).to.equal(204);
    await client.untilDelivery(webhook.id, (await replay(delivery?.id ?? '')).body.delivery_id, 'delivered');
    const [first, second] = receiver.events();
    expect(second).to.deep.equal(first);
    expect(second?.data.job.tag).to.equal('still here');
  });

  it('is sent once more from a time on, oldest first, each event once, a bounded number at a time', async () => {
    const before = await newJob();
    await untilEnded(1);
    await client.test(webhook.id);
    const jobs: JobView[] = [];
    for (let made = 0; made < MANY; made += 10) jobs.push(...(await Promise.all(Array.from({ length: Math.min(10, MANY - made) }, newJob))));
    await untilEnded(MANY + 2);
    const [oldest] = (await client.history(webhook.id, `?page=${MANY + 2}&per_page=1`)).data;
    expect(oldest?.job_id).to.equal(before.id);
    const since = new Date(Date.parse(oldest?.queued_at ?? '') + 1).toISOString();
    const sent = receiver.requests().length;
    const first = await replaySince({ since });
    expect([first.status, first.body.queued >= 100]).to.deep.equal([202, true]);
    // What is on its way once more is not queued a third time, whatever is asked meanwhile.
    const rest = first.body.next_since === null ? 0 : (await replaySince({ since: first.body.next_since })).body.queued;
    expect(first.body.queued + rest).to.equal(MANY);
    await waitFor('the replays', ARRIVAL_LIMIT_MS, () => (receiver.requests().length >= sent + MANY ? true : undefined));
    const again = receiver.events().slice(sent);
    expect(again).to.have.length(MANY);
    expect(new Set(again.map(({ data }) => data.job.id))).to.deep.equal(new Set(jobs.map(({ id }) => id)));
    expect((await replaySince({ since: '2999-01-01T00:00:00Z' })).body).to.deep.equal({ queued: 0, next_since: null });
    expect((await replaySince({ since, status: 'failed' })).body).to.deep.equal({ queued: 0, next_since: null });
  });

  it('is not sent from a time that is none (§7 validation_failed 400)', async () => {
    for (const [json, path] of [[{}, 'since'], [{ since: 5 }, 'since'], [{ since: 'yesterday' }, 'since'], [{ since: '2026-01-01' }, 'since'], [{ since: '2026-13-01T00:00:00Z' }, 'since'], [{ since: null }, 'since'], [{ since: '2026-01-01T00:00:00Z', status: 'delivered' }, 'status']] as const) {
      const answer = await replaySince(json);
      expect([answer.status, answer.body.error.code, paths(answer)], JSON.stringify(json)).to.deep.equal([400, 'validation_failed', [path]]);
    }
    for (const since of ['2026-01-01T00:00:00+02:00', '2026-01-01T00:00:00.123456Z', '0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z']) expect((await replaySince({ since })).status, since).to.equal(202);
    expect((await replay(UNKNOWN_ID)).status).to.equal(404);
  });
});
