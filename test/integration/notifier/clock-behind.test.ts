import { expect } from 'chai';
import type { EventStore } from '../../../shared/store/event-store.ts';
import { NotifierBench } from '../../support/notifier-bench.ts';
import { say } from '../../support/origin.ts';

/** How far the clock of the notifier is behind that of the server. */
const BEHIND_MS = 30_000;
const DELAY_MS = 7_000;

describe('A notifier whose clock is behind that of the server', function () {
  this.timeout(90_000);
  let bench: NotifierBench;

  before(async () => {
    bench = await NotifierBench.start();
  });
  after(() => bench.stop());

  it('waits as long as it must between two attempts, and does not look again and again meanwhile (D70, D89)', async () => {
    const context = await bench.startNotifier({ delaysMs: [DELAY_MS] });
    let looks = 0;
    const { store: counted } = context;
    const store: EventStore = {
      ...counted,
      load: (aggregate) => {
        looks += 1;
        return counted.load(aggregate);
      },
    };
    Object.assign(context, { store, clock: { nowMs: () => Date.now() - BEHIND_MS } });
    const receiver = await bench.createEndpoint();
    bench.egress.origin.on(receiver.path, say('HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n'));
    const id = await bench.queueTest(receiver);
    const startedMs = Date.now();
    await bench.waitUntil('both attempts', async () => (await bench.delivery(id)).status === 'failed');
    expect(Date.now() - startedMs).to.be.at.least(DELAY_MS);
    expect(bench.requestsAt(receiver)).to.have.length(2);
    expect(looks).to.be.lessThan(15);
  });
});
