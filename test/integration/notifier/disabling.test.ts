import { expect } from 'chai';
import type { NotifierContext } from '../../../services/notifier/context.ts';
import { NotifierBench, type TestEndpoint } from '../../support/notifier-bench.ts';
import type { Behaviour } from '../../support/origin.ts';

/** Stands for the five days. */
const DISABLE_AFTER_MS = 1_500;

const answer = (status: number): Behaviour => (socket) => socket.end(`HTTP/1.1 ${status} X\r\nContent-Length: 0\r\n\r\n`);

describe('An endpoint that fails (§6 delivery 3)', function () {
  this.timeout(60_000);
  let bench: NotifierBench;
  let notifier: NotifierContext;

  before(async () => {
    bench = await NotifierBench.start();
    notifier = await bench.startNotifier({ disableAfterMs: DISABLE_AFTER_MS });
  });
  after(() => bench.stop());

  async function endpoint(behave: Behaviour): Promise<TestEndpoint> {
    const made = await bench.createEndpoint({ events: ['job.created'] });
    bench.egress.origin.on(made.path, behave);
    return made;
  }

  async function stateOf({ webhookId }: TestEndpoint): Promise<string | undefined> {
    await notifier.catchUpAccounts();
    const found = notifier.accounts.findWebhook(webhookId);
    return found?.enabled === true ? 'enabled' : found?.disabled_reason;
  }

  async function waitForState(receiver: TestEndpoint, state: string): Promise<void> {
    await bench.waitUntil(state, async () => (await stateOf(receiver)) === state);
  }

  it('is disabled at once by a 410, its other retries stop, and nothing is queued for it (§6 delivery 3, D72)', async () => {
    let requests = 0;
    const receiver = await endpoint((socket, request) => answer((requests += 1) === 1 ? 500 : 410)(socket, request));
    await bench.createJob();
    await bench.waitForRequests(receiver, 1);
    await bench.createJob();
    await waitForState(receiver, 'gone_410');
    await bench.waitUntil('the end of both', async () => (await bench.deliveriesTo(receiver)).every(({ status }) => status === 'failed' || status === 'stopped'));
    const sent = bench.requestsAt(receiver).length;
    const jobId = await bench.createJob();
    const other = await endpoint(answer(200));
    await bench.createJob();
    await bench.waitForStatus(other, 'delivered');
    expect(await bench.deliveriesTo(receiver), `nothing is queued for ${jobId}`).to.have.length(2);
    expect(bench.requestsAt(receiver)).to.have.length(sent);

    bench.egress.origin.on(receiver.path, answer(200));
    await bench.enableEndpoint(receiver);
    await bench.createJob();
    await bench.waitUntil('a delivery after it was enabled', async () => (await bench.deliveriesTo(receiver)).at(-1)?.status === 'delivered');
    expect(await bench.deliveriesTo(receiver), 'what happened meanwhile is never sent').to.have.length(3);
    for (const made of [receiver, other]) await bench.deleteEndpoint(made);
  });

  it('is disabled at a failure once the oldest one since its last success is old enough (D71)', async () => {
    const receiver = await endpoint(answer(500));
    await bench.createJob();
    await waitForState(receiver, 'failing_5_days');
    await bench.enableEndpoint(receiver);
    await bench.createJob();
    await bench.waitForRequests(receiver, bench.requestsAt(receiver).length + 1);
    expect(await stateOf(receiver), 'what failed before does not count').to.equal('enabled');
    await bench.deleteEndpoint(receiver);
  });

  it('is never disabled for being quiet, or for failing now and then (D71)', async () => {
    let requests = 0;
    const receiver = await endpoint((socket, request) => answer((requests += 1) % 2 === 1 ? 500 : 200)(socket, request));
    const untilMs = Date.now() + 2 * DISABLE_AFTER_MS;
    while (Date.now() < untilMs) {
      const count = (await bench.deliveriesTo(receiver)).length;
      await bench.createJob();
      await bench.waitForStatus(receiver, 'delivered', count + 1);
    }
    expect(await stateOf(receiver)).to.equal('enabled');
    expect(bench.requestsAt(receiver).length).to.be.greaterThan(3);
    await bench.deleteEndpoint(receiver);
  });

  it('is not disabled by failing tests, but by a 410 to one (D58)', async () => {
    const receiver = await endpoint(answer(500));
    const test = await bench.queueTest(receiver, 2);
    await bench.waitUntil('the end of the test', async () => (await bench.delivery(test)).status === 'failed');
    expect(await stateOf(receiver)).to.equal('enabled');
    bench.egress.origin.on(receiver.path, answer(410));
    const { activation } = notifier.accounts.findWebhook(receiver.webhookId)!;
    await bench.queueTest(receiver, activation);
    await waitForState(receiver, 'gone_410');
    bench.egress.origin.on(receiver.path, answer(200));
    const last = await bench.queueTest(receiver, activation);
    await bench.waitUntil('a test to the disabled endpoint', async () => (await bench.delivery(last)).status === 'delivered');
    expect(await stateOf(receiver), 'a test never enables it').to.equal('gone_410');
    await bench.deleteEndpoint(receiver);
  });

  it('that is deleted gets no further attempt, and its key is destroyed (§4.6, D57)', async () => {
    const receiver = await endpoint(answer(500));
    await bench.createJob();
    await bench.waitForRequests(receiver, 1);
    await bench.deleteEndpoint(receiver);
    await bench.waitForStatus(receiver, 'stopped');
    expect(await bench.dataKeys.get(`webhook.${receiver.webhookId}`)).to.equal(undefined);
  });

  it('shows in the figures of the notifier', async () => {
    const text = notifier.figures.render();
    expect(text).to.match(/notifier_attempts_total\{outcome="delivered"\} [1-9]/).and.match(/notifier_attempts_total\{outcome="http_status"\} [1-9]/);
    expect(text).to.match(/notifier_endpoints_disabled_total [3-9]/).and.match(/^notifier_oldest_due_delivery_age_seconds [\d.]+$/m);
  });
});
