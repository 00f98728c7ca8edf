import { expect } from 'chai';
import { EndpointPlaces } from '../../../services/notifier/endpoint-places.ts';
import { systemClock } from '../../../shared/clock/clock.ts';
import { NotifierBench, type TestEndpoint } from '../../support/notifier-bench.ts';
import { drip, flood, type Behaviour } from '../../support/origin.ts';

const OK = 'HTTP/1.1 200 OK\r\n';
const answer: Behaviour = (socket) => socket.end(`${OK}Content-Length: 0\r\n\r\n`);
/** Jobs whose events wait for every endpoint. */
const JOBS = 15;
/** Longest time in which a healthy endpoint gets an event beside hanging ones, in ms; it waits for none of them. */
const HEALTHY_MS_MAX = 2_500;

describe('Places at endpoints (§6)', () => {
  const never = new AbortController().signal;

  it('are one at first, double with each success up to eight, and one again after a timeout', async () => {
    const places = new EndpointPlaces(100, systemClock);
    for (const limit of [1, 2, 4, 8, 8]) {
      const taken = await Promise.all(Array.from({ length: limit }, () => places.take('a', never)));
      expect(taken.every((place) => place !== undefined), `limit ${limit}`).to.equal(true);
      taken[0]?.giveBack('success');
      for (const place of taken.slice(1)) place?.giveBack();
    }
    (await places.take('a', never))?.giveBack('unreachable');
    const only = await places.take('a', never);
    expect(await places.take('a', never), 'nobody waits for one that cannot be reached').to.equal(undefined);
    only?.giveBack();
  });

  it('leave a quarter of all to endpoints that can be reached', async () => {
    const places = new EndpointPlaces(8, systemClock);
    const ids = Array.from({ length: 8 }, (_, index) => `hanging-${index}`);
    for (const id of ids) (await places.take(id, never))?.giveBack('unreachable');
    const taken = await Promise.all(ids.map((id) => places.take(id, never)));
    expect(taken.filter((place) => place !== undefined)).to.have.length(6);
    expect(await places.take('healthy', never)).not.to.equal(undefined);
  });

  it('go in turn, and who waits too long is put off', async () => {
    const places = new EndpointPlaces(100, systemClock);
    const first = await places.take('a', never);
    const second = places.take('a', never);
    const third = places.take('a', never);
    first?.giveBack('answer');
    expect(await second).not.to.equal(undefined);
    expect(await third).to.equal(undefined);
    const nowMs = Date.now();
    const turns = Array.from({ length: 100 }, () => places.putOffUntil('a'));
    expect(Math.min(...turns)).to.be.at.least(nowMs);
    expect(Math.max(...turns)).to.be.below(nowMs + 130_000);
  });
});

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
