import type { ChildProcess } from 'node:child_process';
import { jetstreamManager } from '@nats-io/jetstream';
import { expect } from 'chai';
import { applyStreams } from '../../streams/apply.ts';
import { inParallel } from '../support/in-parallel.ts';
import { NotifierBench, type TestEndpoint } from '../support/notifier-bench.ts';
import { killProcess, spawnNotifier } from '../support/notifier-process.ts';
import { ORIGIN_ADDRESS, type Behaviour } from '../support/origin.ts';
import { vouchForLog } from '../support/vouch-for-log.ts';

/** Deliveries that are due when the server goes. */
const DUE = 300;
const WIDTH = 16;
/** An attempt counts as lost 15 s after its deadline, and the machine is busy. */
const LIMIT_MS = 90_000;
/** A name of its own, so that a test sees when it is looked up. */
const WATCHED_NAME = 'other.example.test';

const answer = (status: number): Behaviour => (socket) => socket.end(`HTTP/1.1 ${status} X\r\nContent-Length: 0\r\n\r\n`);

describe('When a notifier is killed (§6)', function () {
  this.timeout(180_000);
  let bench: NotifierBench;
  const running = new Set<ChildProcess>();

  before(async () => {
    bench = await NotifierBench.start();
    vouchForLog(bench.nc);
  });
  afterEach(async () => {
    for (const child of running) await killProcess(child);
  });
  after(async () => {
    for (const child of running) await killProcess(child);
    await bench.stop();
  });

  /** The real process. */
  async function startProcess(settings: Readonly<Record<string, string>> = {}): Promise<ChildProcess> {
    const env = await bench.environment(settings);
    const child = spawnNotifier(env);
    running.add(child);
    child.once('exit', () => running.delete(child));
    return child;
  }

  async function endpoint(behave: Behaviour, url?: (path: string) => string): Promise<TestEndpoint> {
    const path = `/hook-${bench.endpoints + 1}`;
    const made = await bench.createEndpoint({ events: ['job.created'], ...(url ? { url: url(path) } : {}) });
    bench.egress.origin.on(made.path, behave);
    return made;
  }

  async function eventTypesOf(receiver: TestEndpoint): Promise<readonly string[]> {
    const [delivery] = await bench.deliveriesTo(receiver);
    const events = (await bench.deliveryEvents()).filter(({ aggregate }) => aggregate.id === delivery?.id);
    return events.map(({ event }) => (event.type === 'delivery.attempted' ? `${event.type} ${event.data.failure ?? event.data.outcome}` : event.type));
  }

  const INTERRUPTED_THEN_DELIVERED = ['delivery.queued', 'delivery.attempt_started', 'delivery.attempted interrupted', 'delivery.attempt_started', 'delivery.attempted delivered'];

  it('after the POST and before the record, the event arrives again under the same id', async () => {
    const child = await startProcess();
    let requests = 0;
    const receiver = await endpoint((socket, request) => {
      requests += 1;
      if (requests === 1) child.kill('SIGKILL');
      else answer(200)(socket, request);
    });
    await bench.createJob();
    await bench.waitForRequests(receiver, 1);
    await startProcess();
    await bench.waitForRequests(receiver, 2, LIMIT_MS);
    await bench.waitForStatus(receiver, 'delivered');
    expect(new Set(bench.requestsAt(receiver).map(({ headers }) => headers.get('service-event-id'))).size).to.equal(1);
    const [first, second] = bench.requestsAt(receiver);
    expect(second?.body.equals(first?.body ?? Buffer.alloc(0)), 'the same bytes').to.equal(true);
    expect(second?.headers.get('service-signature'), 'signed anew').not.to.equal(first?.headers.get('service-signature'));
    expect(await eventTypesOf(receiver)).to.deep.equal(INTERRUPTED_THEN_DELIVERED);
    await bench.deleteEndpoint(receiver);
  });

  it('before the POST, the event arrives once', async () => {
    const child = await startProcess();
    let looks = 0;
    bench.egress.names.set(WATCHED_NAME, (type) => {
      looks += 1;
      if (looks === 1) child.kill('SIGKILL');
      return looks === 1 ? 'silence' : type === 'A' ? [ORIGIN_ADDRESS] : [];
    });
    const receiver = await endpoint(answer(200), (path) => `https://${WATCHED_NAME}:${bench.egress.origin.port}${path}`);
    await bench.createJob();
    await bench.waitUntil('the look-up', () => Promise.resolve(looks > 0));
    await startProcess();
    await bench.waitForRequests(receiver, 1, LIMIT_MS);
    await bench.waitForStatus(receiver, 'delivered');
    expect(bench.requestsAt(receiver)).to.have.length(1);
    expect(await eventTypesOf(receiver)).to.deep.equal(INTERRUPTED_THEN_DELIVERED);
    await bench.deleteEndpoint(receiver);
  });

  it('what is due later stays due then, and what came due meanwhile is sent at once (§6 delivery 2)', async () => {
    const first = await startProcess({ WEBHOOK_RETRY_DELAYS_SECONDS: '8,1' });
    let requests = 0;
    const times: number[] = [];
    const receiver = await endpoint((socket, request) => {
      times.push(Date.now());
      answer((requests += 1) < 3 ? 500 : 200)(socket, request);
    });
    await bench.createJob();
    await bench.waitForStatus(receiver, 'retrying');
    await killProcess(first);
    const second = await startProcess({ WEBHOOK_RETRY_DELAYS_SECONDS: '8,1' });
    await bench.waitForRequests(receiver, 2);
    expect(times[1]! - times[0]!).to.be.within(7_900, 12_000);
    await bench.waitUntil('the second record', async () => (await bench.deliveriesTo(receiver))[0]?.last?.attempt === 2);
    await killProcess(second);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await startProcess();
    await bench.waitForStatus(receiver, 'delivered');
    await bench.deleteEndpoint(receiver);
  });

  it('nothing is lost when nats-server is restarted with hundreds of deliveries due', async () => {
    const seen = new Map<string, number>();
    const receiver = await endpoint((socket, request) => {
      const id = request.headers.get('service-event-id') ?? '';
      seen.set(id, (seen.get(id) ?? 0) + 1);
      answer(seen.get(id) === 1 ? 503 : 200)(socket, request);
    });
    await startProcess({ WEBHOOK_RETRY_DELAYS_SECONDS: '6,1,1,1' });
    await startProcess({ WEBHOOK_RETRY_DELAYS_SECONDS: '6,1,1,1' });
    await inParallel(DUE, WIDTH, () => bench.createJob());
    await bench.waitUntil('half of the first attempts', () => Promise.resolve(seen.size > DUE / 2), LIMIT_MS);
    await bench.server.restart();
    await bench.waitUntil('all deliveries', async () => {
      const deliveries = await bench.deliveriesTo(receiver).catch(() => []);
      return deliveries.length === DUE && deliveries.every(({ status }) => status === 'delivered');
    }, LIMIT_MS);
    expect(seen.size).to.equal(DUE);
    expect(Math.max(...seen.values()), 'never more than five attempts').to.be.at.most(5);
    await bench.deleteEndpoint(receiver);
  });

  it('events that are handed to two notifiers a second time are sent once', async () => {
    const receiver = await endpoint(answer(200));
    await startProcess();
    await startProcess();
    await inParallel(DUE / 3, WIDTH, () => bench.createJob());
    await bench.waitForStatus(receiver, 'delivered', DUE / 3);
    expect(bench.requestsAt(receiver), 'each once').to.have.length(DUE / 3);
    const before = (await bench.deliveryEvents()).length;
    const manager = await jetstreamManager(bench.nc);
    for (const child of running) await killProcess(child);
    for (const [stream, durable] of [['JOBS', 'notifier-fan-out'], ['DELIVERIES', 'notifier-first-attempt']] as const) await manager.consumers.delete(stream, durable);
    await applyStreams(bench.nc, { replicas: 1, log: () => undefined });
    await startProcess();
    for (const [stream, durable] of [['JOBS', 'notifier-fan-out'], ['DELIVERIES', 'notifier-first-attempt']] as const) {
      await bench.waitUntil(`${durable} to have worked through everything`, async () => {
        const { num_pending, num_ack_pending } = await manager.consumers.info(stream, durable);
        return num_pending === 0 && num_ack_pending === 0;
      });
    }
    expect(bench.requestsAt(receiver)).to.have.length(DUE / 3);
    expect((await bench.deliveryEvents()).length, 'the log did not grow').to.equal(before);
    await bench.deleteEndpoint(receiver);
  });
});
