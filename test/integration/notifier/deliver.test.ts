import { expect } from 'chai';
import StripeLibrary from 'stripe';
import { Webhook } from 'standardwebhooks';
import { EVENT_AGE_MS_MAX } from '../../../shared/domain/delivery.ts';
import { NotifierBench, type TestEndpoint } from '../../support/notifier-bench.ts';
import { redirect, say, type Behaviour } from '../../support/origin.ts';
import { API_KEY_ID } from '../../support/job-events.ts';

const answer = (status: number): Behaviour => (socket) => socket.end(`HTTP/1.1 ${status} X\r\nContent-Length: 0\r\n\r\n`);

describe('A notifier (§6, §6 delivery)', function () {
  this.timeout(60_000);
  let bench: NotifierBench;

  before(async () => {
    bench = await NotifierBench.start();
    await bench.startNotifier();
  });
  after(() => bench.stop());

  async function endpoint(behave: Behaviour, changes: Parameters<NotifierBench['createEndpoint']>[0] = {}): Promise<TestEndpoint> {
    const made = await bench.createEndpoint(changes);
    bench.egress.origin.on(made.path, behave);
    return made;
  }

  it('sends every event of a job that an endpoint subscribed to, signed, with the snapshot at that event (§6 job.created, §6 job.finished, §6 body, D69)', async () => {
    const all = await endpoint(answer(200));
    const created = await endpoint(answer(204), { events: ['job.created'] });
    const jobId = await bench.finishJob(await bench.createJob());
    await bench.waitForStatus(all, 'delivered', 2);
    await bench.waitForStatus(created, 'delivered', 1);
    const bodies = bench.requestsAt(all).map(bodyOf).toSorted((one, other) => one.created_at.localeCompare(other.created_at));
    expect(bodies.map((body) => [body.event, body.data.job.id, body.data.job.status])).to.deep.equal([['job.created', jobId, 'waiting'], ['job.finished', jobId, 'finished']]);
    expect(bodies[1]?.data.job.tasks.map((task) => task.name)).to.deep.equal(['my-file', 'to-jpg', 'link']);
    expect(bodies[1]?.data.job.tasks[2]?.result?.url).to.include('/files/');
    expect(bodyOf(bench.requestsAt(created)[0]).id, 'the same id at every endpoint').to.equal(bodies[0]?.id);
    for (const { headers, body } of bench.requestsAt(all)) {
      new StripeLibrary('sk_test_none').webhooks.constructEvent(body, headers.get('service-signature') ?? '', all.secret);
      new Webhook(all.secret).verify(body, Object.fromEntries(headers));
      expect(headers.get('service-event-id')).to.equal(bodyOf({ body }).id).and.match(/^evt_[0-9a-f-]{36}$/);
      expect([headers.get('content-type'), headers.get('user-agent')]).to.deep.equal(['application/json', 'Service-Webhooks/1']);
    }
    await bench.deleteEndpoint(all);
    await bench.deleteEndpoint(created);
  });

  it('sends job.failed and job.cancelled, and nothing for a DELETE or an upload that never came (§6 job.failed, §6 job.cancelled, D73)', async () => {
    const receiver = await endpoint(answer(200));
    const failed = await bench.createJob();
    await bench.command(failed, { type: 'fail', error: { code: 'file_too_large', max_bytes: 1 } });
    const cancelled = await bench.createJob();
    await bench.command(cancelled, { type: 'cancel' });
    const deleted = await bench.createJob();
    await bench.command(deleted, { type: 'delete' });
    const expired = await bench.createJob({ upload_deadline_at: '2026-01-01T00:00:00.000Z' });
    await bench.command(expired, { type: 'expire', now: '2026-01-01T00:00:01.000Z' });
    await bench.waitForStatus(receiver, 'delivered', 6);
    const events = bench.requestsAt(receiver).map(bodyOf).map((body) => `${body.event} ${body.data.job.id} ${body.data.job.status}`);
    const creations = [failed, cancelled, deleted, expired].map((id) => `job.created ${id} waiting`);
    expect(events).to.have.members([...creations, `job.failed ${failed} error`, `job.cancelled ${cancelled} cancelled`]);
    await bench.deleteEndpoint(receiver);
  });

  it('queues no event so late that the delivery of it may have been made and forgotten (§6 delivery 4)', async () => {
    const receiver = await endpoint(answer(200));
    await bench.createJob({}, Date.now() - EVENT_AGE_MS_MAX - 60_000);
    const jobId = await bench.createJob({}, Date.now() - EVENT_AGE_MS_MAX + 60_000);
    await bench.waitForStatus(receiver, 'delivered');
    expect(bench.requestsAt(receiver).map((request) => bodyOf(request).data.job.id)).to.deep.equal([jobId]);
    await bench.deleteEndpoint(receiver);
  });

  it('sends events of a mode only to endpoints of it, without `test` (D53, D59)', async () => {
    const live = await endpoint(answer(200));
    const test = await endpoint(answer(200), { key_mode: 'test' });
    const jobId = await bench.createJob({ key_mode: 'test' });
    await bench.waitForStatus(test, 'delivered');
    expect(bodyOf(bench.requestsAt(test)[0])).to.have.nested.property('data.job.id', jobId);
    expect(bodyOf(bench.requestsAt(test)[0])).not.to.have.property('test');
    expect(await bench.deliveriesTo(live)).to.deep.equal([]);
    await bench.deleteEndpoint(live);
    await bench.deleteEndpoint(test);
  });

  it('tries five times in all, with the same body and id and a fresh signature each time (§6 delivery 2, D66, D70)', async () => {
    const failing = await endpoint(answer(500), { events: ['job.created'] });
    await bench.createJob();
    await bench.waitForStatus(failing, 'failed');
    const requests = bench.requestsAt(failing);
    expect(requests).to.have.length(5);
    expect(new Set(requests.map((request) => request.body.toString())).size).to.equal(1);
    expect(new Set(requests.map((request) => request.headers.get('service-event-id'))).size).to.equal(1);
    expect(new Set(requests.map((request) => request.headers.get('service-signature'))).size).to.be.greaterThan(1);
    for (const { headers, body } of requests) new Webhook(failing.secret).verify(body, Object.fromEntries(headers));
    const [delivery] = await bench.deliveriesTo(failing);
    expect(delivery).to.deep.include({ attempts: 5 });
    expect(delivery?.last).to.include({ outcome: 'failed', failure: 'http_status', status_code: 500 });
    await bench.deleteEndpoint(failing);
  });

  it('waits from the failure before, and stops at the first 2xx (§6 delivery 1, §6 delivery 2, D70)', async () => {
    let requests = 0;
    const moody = await endpoint((socket, request) => answer((requests += 1) < 3 ? 503 : 202)(socket, request), { events: ['job.created'] });
    await bench.createJob();
    await bench.waitForStatus(moody, 'delivered');
    const [own] = await bench.deliveriesTo(moody);
    const attempts = (await bench.deliveryEvents()).filter(({ aggregate, event }) => aggregate.id === own?.id && event.type.startsWith('delivery.attempt'));
    const times = attempts.map(({ event, envelope }) => [event.type, Date.parse(envelope.time)] as const);
    expect(times.map(([type]) => type)).to.deep.equal(Array.from({ length: 3 }, () => ['delivery.attempt_started', 'delivery.attempted']).flat());
    expect(times[2]![1] - times[1]![1], 'first wait').to.be.at.least(300);
    expect(times[4]![1] - times[3]![1], 'second wait').to.be.at.least(400);
    await bench.deleteEndpoint(moody);
  });

  const failures: Readonly<Record<string, readonly [Behaviour, object]>> = {
    'a redirect': [redirect('/elsewhere'), { failure: 'redirect', status_code: 302 }],
    'silence': [() => undefined, { failure: 'timeout' }],
    'a closed connection': [(socket) => socket.destroy(), { failure: 'network' }],
    'what is no HTTP': [say('SSH-2.0-OpenSSH_9.2\r\n'), { failure: 'network' }],
  };
  for (const [what, [behave, result]] of Object.entries(failures)) {
    it(`counts ${what} as a failed attempt (§6 delivery 1, §8 webhook response deadline, D70)`, async () => {
      const receiver = await endpoint(behave, { events: ['job.created'] });
      await bench.createJob();
      await bench.waitUntil('an attempt', async () => (await bench.deliveriesTo(receiver))[0]?.last !== undefined);
      expect((await bench.deliveriesTo(receiver))[0]?.last).to.deep.include({ outcome: 'failed', ...result });
      await bench.deleteEndpoint(receiver);
      await bench.waitForStatus(receiver, 'stopped');
    });
  }

  it('refuses a name that means a private address by the time of the delivery (§4.6, D55)', async () => {
    bench.egress.names.set('moved.example.test', ['127.0.0.1']);
    const moved = await bench.createEndpoint({ url: `https://moved.example.test:${bench.egress.origin.port}/hook`, events: ['job.created'] });
    await bench.createJob();
    await bench.waitUntil('an attempt', async () => (await bench.deliveriesTo(moved))[0]?.last !== undefined);
    expect((await bench.deliveriesTo(moved))[0]?.last).to.include({ outcome: 'failed', failure: 'blocked_address' });
    expect(bench.egress.hits()).to.equal(0);
    await bench.deleteEndpoint(moved);
  });

  it('sends what was emitted also when the job is deleted meanwhile, with the same bytes (D73)', async () => {
    let requests = 0;
    const receiver = await endpoint((socket, request) => answer((requests += 1) === 1 ? 500 : 200)(socket, request), { events: ['job.created'] });
    const jobId = await bench.createJob();
    await bench.waitForRequests(receiver, 1);
    await bench.deleteJob(jobId);
    await bench.waitForStatus(receiver, 'delivered');
    const [first, second] = bench.requestsAt(receiver);
    expect(second?.body.equals(first?.body ?? Buffer.alloc(0))).to.equal(true);
    expect(bodyOf(second)).to.have.nested.property('data.job.tag', 'order 1');
    await bench.deleteEndpoint(receiver);
  });

  it('signs with both secrets while one is being rotated, and with the new one alone afterwards (§6 signature 4, D68)', async () => {
    const receiver = await endpoint(answer(200), { events: ['job.created'] });
    const second = await bench.rotateSecret(receiver, 60_000);
    await bench.createJob();
    await bench.waitForRequests(receiver, 1);
    const [request] = bench.requestsAt(receiver);
    for (const secret of [receiver.secret, second]) new StripeLibrary('sk_test_none').webhooks.constructEvent(request!.body, request!.headers.get('service-signature') ?? '', secret);
    const third = await bench.rotateSecret(receiver, 1);
    await bench.createJob();
    await bench.waitForRequests(receiver, 2);
    const last = bench.requestsAt(receiver)[1]!;
    expect(last.headers.get('service-signature')?.match(/v1=/g)).to.have.length(1);
    new Webhook(third).verify(last.body, Object.fromEntries(last.headers));
    await bench.deleteEndpoint(receiver);
  });

  it('sends a test whatever is subscribed, also to a disabled endpoint, with `test: true` (§4.6, D58)', async () => {
    const receiver = await endpoint(answer(410), { events: ['job.created'] });
    await bench.queueTest(receiver);
    await bench.waitForStatus(receiver, 'failed');
    expect(bench.requestsAt(receiver), 'a 410 ends it at once').to.have.length(1);
    const body = bodyOf(bench.requestsAt(receiver)[0]);
    expect(body).to.include({ event: 'job.finished', test: true });
    expect(body.data.job).to.include({ status: 'finished', api_key_id: API_KEY_ID });
    bench.egress.origin.on(receiver.path, answer(200));
    const again = await bench.queueTest(receiver);
    await bench.waitUntil('the second test', async () => (await bench.delivery(again)).status === 'delivered');
    await bench.deleteEndpoint(receiver);
  });
});

type SentBody = { readonly id: string; readonly event: string; readonly created_at: string; readonly data: { readonly job: { readonly id: string; readonly status: string; readonly tasks: readonly { readonly name: string; readonly result?: { readonly url: string } }[] } }; readonly test?: boolean };

function bodyOf(request: { readonly body: Buffer } | undefined): SentBody {
  return JSON.parse(request?.body.toString() ?? '');
}
