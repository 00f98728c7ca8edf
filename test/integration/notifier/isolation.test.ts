import { expect } from 'chai';
import { NotifierBench, type TestEndpoint } from '../../support/notifier-bench.ts';
import { drip, flood, type Behaviour } from '../../support/origin.ts';

const OK = 'HTTP/1.1 200 OK\r\n';
const answer: Behaviour = (socket) => socket.end(`${OK}Content-Length: 0\r\n\r\n`);
/** Jobs whose events wait for every endpoint. */
const JOBS = 15;
/** Longest time in which a healthy endpoint gets an event beside hanging ones, in ms; it waits for none of them. */
const HEALTHY_MS_MAX = 2_500;

describe('An endpoint that hangs (§6)', function () {
  this.timeout(90_000);
  let bench: NotifierBench;

  before(async () => {
    bench = await NotifierBench.start();
  });
  after(() => bench.stop());

  it('answers slowly or sends an endless body delays no other endpoint', async () => {
    const behaviours: readonly Behaviour[] = [() => undefined, drip(OK, 'X', 200), flood(`${OK}\r\n`, Buffer.alloc(65_536)), drip(`${OK}Content-Length: 1000\r\n\r\n`, 'x', 1_000)];
    const hanging: TestEndpoint[] = [];
    for (const behave of behaviours) {
      const made = await bench.createEndpoint({ events: ['job.created'] });
      bench.egress.origin.on(made.path, behave);
      hanging.push(made);
    }
    const healthy = await bench.createEndpoint({ events: ['job.created'] });
    bench.egress.origin.on(healthy.path, answer);
    // Fewer places than what waits for the others.
    await bench.startNotifier({ slots: 10 });
    for (let job = 0; job < JOBS; job += 1) {
      const startedMs = performance.now();
      await bench.createJob();
      await bench.waitForRequests(healthy, job + 1);
      expect(performance.now() - startedMs, `event ${job}`).to.be.below(HEALTHY_MS_MAX);
    }
    await bench.waitForStatus(healthy, 'delivered', JOBS);
    for (const made of hanging) await bench.deleteEndpoint(made);
    for (const made of hanging) await bench.waitUntil('no delivery under way', async () => (await bench.deliveriesTo(made)).every(({ open }) => !open));
  });
});
