import { jetstreamManager } from '@nats-io/jetstream';
import { expect } from 'chai';
import type { NotifierContext } from '../../../services/notifier/context.ts';
import { newId } from '../../../shared/ids/ids.ts';
import { NotifierBench, type TestEndpoint } from '../../support/notifier-bench.ts';
import { say } from '../../support/origin.ts';

describe('Test deliveries of a notifier (§4.6, D58)', function () {
  this.timeout(60_000);
  let bench: NotifierBench;
  let notifier: NotifierContext;

  before(async () => {
    bench = await NotifierBench.start();
    notifier = await bench.startNotifier();
  });
  after(() => bench.stop());

  async function endpoint(status: number): Promise<TestEndpoint> {
    const made = await bench.createEndpoint();
    bench.egress.origin.on(made.path, say(`HTTP/1.1 ${status} X\r\nContent-Length: 0\r\n\r\n`));
    return made;
  }

  /** Every first attempt is through, with all that follows from it. */
  async function untilIdle(): Promise<void> {
    const manager = await jetstreamManager(bench.nc);
    await bench.waitUntil('all messages to be acknowledged', async () => {
      const { num_pending, num_ack_pending } = await manager.consumers.info('DELIVERIES', 'notifier-first-attempt');
      return num_pending + num_ack_pending === 0;
    });
  }

  it('have the same body when they are replayed (§6 body, D66)', async () => {
    const receiver = await endpoint(200);
    const first = await bench.queueTest(receiver);
    await bench.waitForRequests(receiver, 1);
    const { queued } = await bench.delivery(first);
    // By another key, and later.
    await bench.store.append({ kind: 'delivery', id: newId(Date.now()) }, { version: 0 }, { type: 'delivery.queued', data: { ...queued, replay_of: first } }, bench.origin());
    await bench.waitForRequests(receiver, 2);
    const [sent, repeated] = bench.requestsAt(receiver).map(({ body }) => body.toString());
    expect(repeated).to.equal(sent);
  });

  it('that are answered 410 count as one disabling, however many there are (§6 delivery 3)', async () => {
    const receiver = await endpoint(410);
    await notifier.catchUpAccounts();
    const activation = notifier.accounts.findWebhook(receiver.webhookId)?.activation;
    await Promise.all([bench.queueTest(receiver, activation), bench.queueTest(receiver, activation)]);
    await bench.waitForStatus(receiver, 'failed', 2);
    await untilIdle();
    expect(notifier.figures.summarize()).to.include({ disabled: 1, endpoints_disabled: 1 });
  });
});
