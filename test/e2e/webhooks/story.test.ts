import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import type { JobView } from '../../../shared/domain/job-view.ts';
import { requireCleanAudit } from '../../support/books.ts';
import { resultUrlOf, tasksOf, type ErrorBody } from '../../support/client.ts';
import { fixturePath } from '../../support/fixtures.ts';
import { openOperator, type TestOperator, type TestOrganization } from '../../support/organization.ts';
import { readPicture } from '../../support/pictures.ts';
import { runCommand } from '../../support/run-program.ts';
import { WebhookClient, type CreatedWebhook } from '../../support/webhook-client.ts';
import { verifyByLibraries, WebhookReceiver } from '../../support/webhook-receiver.ts';
import { startWebhookService, type WebhookService } from '../../support/webhook-service.ts';

describe('Events that are sent to a receiver (§6)', function () {
  this.timeout(240_000);
  let started: WebhookService;
  let operator: TestOperator;
  let organization: TestOrganization;
  let client: WebhookClient;
  let tester: WebhookClient;
  let receiver: WebhookReceiver;
  let webhook: CreatedWebhook;
  let paths = 0;

  before(async () => {
    started = await startWebhookService();
    operator = await openOperator(started.service);
    organization = await operator.newOrganization(50);
    [client, tester] = [await newClient('live'), await newClient('test')];
  });
  beforeEach(async () => {
    receiver = newReceiver();
    webhook = await client.register(receiver.url);
  });
  afterEach(async () => {
    for (const one of [client, tester]) for (const { id } of await one.webhooks()) await one.remove(id);
    expect(started.far.hits(), 'connections to other addresses').to.equal(0);
  });
  after(async () => {
    await operator.stop();
    await started.stop();
  });

  async function newClient(mode: 'live' | 'test'): Promise<WebhookClient> {
    return new WebhookClient(started.service.baseUrl, (await organization.newKey(mode)).secret);
  }

  function newReceiver(): WebhookReceiver {
    return new WebhookReceiver(started.far, `/hook/${(paths += 1)}`);
  }

  async function cancelledJob(): Promise<JobView> {
    const job = await client.createJob(tasksOf('jpg', 'png'));
    await client.send('POST', `/v1/jobs/${job.id}/cancel`);
    return job;
  }

  it('tell of a job from its creation to its result, signed as the contract says (§6 job.created, §6 job.finished, §6 body, §6 headers, §6 signature 1, D67, D69)', async () => {
    const photo = await readFile(fixturePath('sample.webp'));
    const job = await client.createJob(tasksOf('webp', 'png'), { tag: 'a tag' });
    await client.upload(job, photo);
    const ended = await client.waitForStatus(job.id, 'finished');
    const created = await receiver.until('job.created', ({ event }) => event === 'job.created');
    const finished = await receiver.until('job.finished', ({ event }) => event === 'job.finished');
    for (const { event, request } of [created, finished]) {
      verifyByLibraries(request, webhook.secret);
      expect(() => verifyByLibraries({ ...request, body: Buffer.concat([request.body, Buffer.from(' ')]) }, webhook.secret)).to.throw();
      expect(() => verifyByLibraries(request, `whsec_${'A'.repeat(43)}=`)).to.throw();
      expect(event).to.have.all.keys('id', 'event', 'created_at', 'data');
      expect(event.id).to.match(/^evt_[0-9a-f-]{36}$/);
      expect(request.head.split('\r\n')[0]).to.match(/^POST \/hook\/\d+ HTTP\/1\.1$/);
      expect(request.headers.get('content-type')).to.equal('application/json');
      expect(request.headers.get('user-agent')).to.equal('Service-Webhooks/1');
      expect([request.headers.get('service-event-id'), request.headers.get('webhook-id')]).to.deep.equal([event.id, event.id]);
      expect(request.headers.get('service-signature')).to.match(/^t=\d+,v1=[0-9a-f]{64}$/);
    }
    // As it was then, although the job has gone on since; never with the link to upload to.
    expect(created.event.data.job).to.deep.equal({ ...job, tasks: job.tasks?.map(({ result: _result, ...task }) => task) });
    expect(finished.event.data.job).to.deep.equal(ended);
    expect(readPicture((await client.send('GET', resultUrlOf(finished.event.data.job))).bytes).format).to.equal('png');
    const [row] = await client.webhooks();
    expect(Date.parse(row?.last_success_at ?? '')).to.be.within(Date.parse(job.created_at), Date.now() + 1_000);
  });

  it('tell of failure and cancelling, and not of deletion (§6 job.failed, §6 job.cancelled, D36)', async () => {
    const [failed, deleted, cancelled] = [await client.createJob(tasksOf('jpg', 'png')), await client.createJob(tasksOf('jpg', 'png')), await cancelledJob()];
    await client.upload(failed, Buffer.from('no picture'));
    await client.send('DELETE', `/v1/jobs/${deleted.id}`);
    const { event } = await receiver.until('job.failed', (received) => received.event === 'job.failed');
    expect(event.data.job).to.deep.equal(await client.readJob(failed.id));
    await receiver.until('job.cancelled', (received) => received.event === 'job.cancelled');
    expect(new Set(receiver.events().map((received) => `${received.event} ${received.data.job.id}`))).to.deep.equal(
      new Set([...[failed, deleted, cancelled].map(({ id }) => `job.created ${id}`), `job.failed ${failed.id}`, `job.cancelled ${cancelled.id}`]),
    );
  });

  it('go to endpoints of the mode of the job, which asked for them, and are the same event at each (§4.6, D53, D59, D69)', async () => {
    const [both, picky, simulated] = [newReceiver(), newReceiver(), newReceiver()];
    await client.register(both.url);
    await client.register(picky.url, { events: ['job.cancelled'] });
    await tester.register(simulated.url);
    const job = await cancelledJob();
    const rehearsed = await tester.createJob(tasksOf('jpg', 'png'));
    const first = await receiver.until('job.cancelled', ({ event }) => event === 'job.cancelled');
    const second = await both.until('job.cancelled', ({ event }) => event === 'job.cancelled');
    const third = await picky.until('job.cancelled', ({ event }) => event === 'job.cancelled');
    for (const { request } of [second, third]) expect(request.body.equals(first.request.body)).to.equal(true);
    const { event } = await simulated.until('job.created', () => true);
    expect(event).to.not.have.property('test');
    expect(event.data.job).to.include({ id: rehearsed.id, test_mode: true });
    expect([picky.events().length, simulated.events().length]).to.deep.equal([1, 1]);
    expect([...receiver.events(), ...both.events()].every(({ data }) => data.job.id === job.id)).to.equal(true);
  });

  it('may be tested: a signed sample, whatever is subscribed, in the full shape of a job (§4.6 POST /webhooks/<webhook_id>/test, D58)', async () => {
    const picky = newReceiver();
    const { id, secret } = await client.register(picky.url, { events: ['job.cancelled'] });
    const answer = await client.send<{ delivery_id: string }>('POST', `/v1/webhooks/${id}/test`);
    expect([answer.status, answer.body]).to.deep.equal([202, { delivery_id: answer.body.delivery_id, status: 'queued' }]);
    const { event, request } = await picky.until('the test', () => true);
    verifyByLibraries(request, secret);
    expect(event).to.include({ event: 'job.finished', test: true });
    expect(event.data.job).to.have.property('status', 'finished');
    expect(event.data.job.tasks).to.have.length(3);
    expect(resultUrlOf(event.data.job)).to.match(/^http/);
    const delivery = await client.untilDelivery(id, answer.body.delivery_id, 'delivered');
    expect(delivery).to.include({ event_id: event.id, event: 'job.finished', job_id: null, test: true, replay_of: null, attempts: 1, response_status: 200, failure: null, next_attempt_at: null });
    const again = await client.send<ErrorBody>('POST', `/v1/webhooks/${id}/deliveries/${delivery.id}/replay`);
    expect([again.status, again.body.error.details]).to.deep.equal([409, { reason: 'test_delivery' }]);
  });

  it('stop at 410, which disables the endpoint; a test still goes out, and an operator enables it again (§2.4, §6 delivery 3, D58, D64, D72)', async () => {
    receiver.answer(410);
    const job = await client.createJob(tasksOf('jpg', 'png'));
    await receiver.until('the event', () => true);
    const environment = { DATA_DIR: started.service.dataDir };
    const disabled = await client.untilWebhook(webhook.id, ({ enabled }) => !enabled);
    expect(disabled).to.include({ disabled_reason: 'gone_410', last_success_at: null });
    expect(Date.parse(disabled.disabled_at ?? '')).to.be.within(Date.parse(job.created_at), Date.now() + 1_000);
    const [delivery] = (await client.history(webhook.id)).data;
    expect(delivery).to.include({ status: 'failed', attempts: 1, response_status: 410, failure: 'http_status', next_attempt_at: null });
    for (const [path, json] of [[`deliveries/${delivery?.id}/replay`, undefined], ['replay', { since: job.created_at }]] as const) {
      const refused = await client.send<ErrorBody>('POST', `/v1/webhooks/${webhook.id}/${path}`, json ? { json } : {});
      expect([refused.status, refused.body.error.code, refused.body.error.details], path).to.deep.equal([409, 'validation_failed', { reason: 'endpoint_disabled' }]);
    }
    // What is not there is not there, disabled or not (D1).
    expect((await client.send('POST', `/v1/webhooks/${webhook.id}/deliveries/${webhook.id}/replay`)).status).to.equal(404);
    receiver.answer(204);
    const { delivery_id } = await client.test(webhook.id);
    await client.untilDelivery(webhook.id, delivery_id, 'delivered');
    const tested = await client.untilWebhook(webhook.id, ({ last_success_at }) => last_success_at !== null);
    expect(tested).to.include({ enabled: false, disabled_reason: 'gone_410' });
    await client.send('POST', `/v1/jobs/${job.id}/cancel`);
    const listed = await runCommand('admin', ['webhook', 'list', '--org', organization.id], environment);
    expect(listed.code).to.equal(0);
    expect(listed.stdout).to.include(`${webhook.id}  live  disabled gone_410`);
    expect(JSON.parse((await runCommand('admin', ['webhook', 'enable', webhook.id, '--json'], environment)).stdout)).to.deep.equal({ webhook_id: webhook.id, enabled: true });
    expect((await client.webhooks())[0]).to.deep.include({ enabled: true, disabled_reason: null, disabled_at: null });
    const next = await client.createJob(tasksOf('jpg', 'png'));
    await receiver.until('an event of the next job', ({ data }) => data.job.id === next.id);
    expect(receiver.events().filter(({ event, data }) => event === 'job.cancelled' && data.job.id === job.id), 'what happened meanwhile').to.deep.equal([]);
  });

  it('are signed by both secrets after a rotation, and never by three (§6 signature 4, D64, D68)', async () => {
    const secrets = [webhook.secret];
    for (let rotation = 0; rotation < 2; rotation += 1) {
      const { code, stdout } = await runCommand('admin', ['webhook', 'rotate-secret', webhook.id, '--json'], { DATA_DIR: started.service.dataDir });
      expect(code).to.equal(0);
      secrets.unshift((JSON.parse(stdout) as { secret: string }).secret);
    }
    await client.test(webhook.id);
    const { request } = await receiver.until('the test', () => true);
    expect(request.headers.get('service-signature')?.match(/v1=/g)).to.have.length(2);
    for (const secret of secrets.slice(0, 2)) verifyByLibraries(request, secret);
    expect(() => verifyByLibraries(request, webhook.secret)).to.throw();
  });

  it('end with the endpoint, and so does their history (§4.6 DELETE /webhooks/<webhook_id>, §6 delivery 4, §6 delivery 5, D72)', async () => {
    receiver.answer(500);
    const job = await client.createJob(tasksOf('jpg', 'png'));
    await receiver.until('the first attempt', () => true);
    const attempts = receiver.requests().length;
    // Whether anybody hears of it or not, the job is what it is.
    expect((await client.readJob(job.id)).status).to.equal('waiting');
    expect((await client.remove(webhook.id)).status).to.equal(204);
    expect((await client.send('GET', `/v1/webhooks/${webhook.id}/deliveries`)).status).to.equal(404);
    await client.send('POST', `/v1/jobs/${job.id}/cancel`);
    const other = newReceiver();
    await client.register(other.url, { events: ['job.created'] });
    await client.createJob(tasksOf('jpg', 'png'));
    await other.until('an event for somebody else', () => true);
    expect(receiver.requests()).to.have.length(attempts);
  });

  it('leave a log that verifies', async () => {
    await requireCleanAudit(started.service);
  });
});
