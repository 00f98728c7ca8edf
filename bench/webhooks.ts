import { createSecureContext } from 'node:tls';
import { createAddressRule } from '../shared/egress/address-rule.ts';
import { sendTo } from '../shared/egress/send.ts';
import { newId } from '../shared/ids/ids.ts';
import { inParallel } from '../test/support/in-parallel.ts';
import { NotifierBench, type TestEndpoint } from '../test/support/notifier-bench.ts';
import { killProcess, spawnNotifier } from '../test/support/notifier-process.ts';
import { ORIGIN_ADDRESS, type Behaviour } from '../test/support/origin.ts';
import { vouchForLog } from '../test/support/vouch-for-log.ts';
import { print } from './table.ts';

/**
 * Measures one notifier: how long an event takes to a healthy endpoint alone and beside
 * endpoints that hang, and how many deliveries a second it makes, of as many bare POSTs to the same receiver.
 */
const HANGING = 500;
const ENDPOINTS_OF_ORGANIZATION = 20;
/** Events for the healthy endpoint, one every so many ms. */
const EVENTS = 300;
const EVERY_MS = 100;
/** For so long each attempt at a hanging endpoint is waited for, in seconds: for as long as the measurement, however busy the machine is. */
const HANGING_SECONDS = 60;
/** Meanwhile they get further events, twenty of them one every so many ms. */
const HANGING_EVERY_MS = 2_000;
/** Share of them that is being waited for when the measurement begins. */
const HELD_SHARE = 0.98;
const BURST = 2_000;
const WIDTH = 8;
const LIMIT_MS = 600_000;
const SHARES = [0.5, 0.99, 1] as const;

const answer: Behaviour = (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
const bench = await NotifierBench.start({ ackWaitMs: 30_000 });
const trusted = createSecureContext({ ca: bench.egress.authority.cert });
vouchForLog(bench.nc);
const environment = await bench.environment({ WEBHOOK_TIMEOUT_SECONDS: '10', WEBHOOK_RETRY_DELAYS_SECONDS: '60,300,900,3600' });
try {
  await measureThroughput();
  await measureIsolation();
} finally {
  await bench.stop();
}

async function measureThroughput(): Promise<void> {
  const notifier = spawnNotifier(environment);
  try {
    const receiver = await makeEndpoint(answer);
    await bench.createJob();
    await bench.waitForRequests(receiver, 1);
    const bare = await perSecond(() => inParallel(BURST, WIDTH, () => postTo(receiver)));
    const before = bench.requestsAt(receiver).length;
    await bench.waitUntil('the notifier to be at rest', () => Promise.resolve(bench.egress.origin.openConnections() === 0));
    const delivered = await perSecond(async () => {
      await Promise.all([inParallel(BURST, WIDTH, () => bench.createJob()), waitCalmly(() => bench.requestsAt(receiver).length >= before + BURST)]);
    });
    print([['one endpoint', 'a second'], [`bare POSTs, ${WIDTH} at once`, bare.toFixed(0)], ['deliveries, their jobs being created meanwhile', delivered.toFixed(0)], ['ratio', (delivered / bare).toFixed(2)]]);
    await bench.deleteEndpoint(receiver);
  } finally {
    await killProcess(notifier);
  }
}

async function measureIsolation(): Promise<void> {
  const notifier = spawnNotifier({ ...environment, WEBHOOK_TIMEOUT_SECONDS: String(HANGING_SECONDS) });
  const healthy = await makeEndpoint(answer);
  let keepBusy: NodeJS.Timeout | undefined;
  try {
    await bench.createJob();
    await bench.waitForRequests(healthy, 1);
    const alone = await timeEvents(healthy);
    const hanging = await makeHanging();
    let next = 0;
    for (const organization_id of hanging) await bench.createJob({ organization_id });
    await waitCalmly(() => bench.egress.origin.openConnections() >= HANGING * HELD_SHARE);
    keepBusy = setInterval(() => void bench.createJob({ organization_id: hanging[next++ % hanging.length] ?? '' }), HANGING_EVERY_MS);
    const beside = await timeEvents(healthy);
    const held = bench.egress.origin.openConnections();
    print([
      ['healthy endpoint', 'p50 ms', 'p99 ms', 'most ms'],
      ['alone', ...columns(alone)],
      [`beside ${HANGING} that hang (${held} still held at the end)`, ...columns(beside)],
      ['ratio', ...SHARES.map((share) => (quantile(beside, share) / quantile(alone, share)).toFixed(2))],
    ]);
  } finally {
    clearInterval(keepBusy);
    await killProcess(notifier);
  }
}

async function makeEndpoint(behave: Behaviour, organizationId?: string): Promise<TestEndpoint> {
  const made = await bench.createEndpoint({ events: ['job.created'], ...(organizationId === undefined ? {} : { organizationId }) });
  bench.egress.origin.on(made.path, behave);
  return made;
}

/** Organizations, all of whose endpoints hang. */
async function makeHanging(): Promise<readonly string[]> {
  return await Promise.all(Array.from({ length: HANGING / ENDPOINTS_OF_ORGANIZATION }, async () => {
    const organizationId = await bench.createOrganization();
    for (let made = 0; made < ENDPOINTS_OF_ORGANIZATION; made += 1) await makeEndpoint(() => undefined, organizationId);
    return organizationId;
  }));
}

/** From the append of an event to its arrival, in ms. */
async function timeEvents(receiver: TestEndpoint): Promise<readonly number[]> {
  const startedMs = new Map<string, number>();
  const times: number[] = [];
  bench.egress.origin.on(receiver.path, (socket, request) => {
    const { data } = JSON.parse(request.body.toString()) as { data: { job: { id: string } } };
    const started = startedMs.get(data.job.id);
    if (started !== undefined) times.push(performance.now() - started);
    answer(socket, request);
  });
  for (let event = 0; event < EVENTS; event += 1) {
    const jobId = newId(Date.now());
    startedMs.set(jobId, performance.now());
    await bench.createJob({}, Date.now(), jobId);
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
  await waitCalmly(() => times.length >= EVENTS);
  return times;
}

async function postTo({ path }: TestEndpoint): Promise<void> {
  const wayOut = { isAllowed: createAddressRule([ORIGIN_ADDRESS]), secureContext: trusted, dnsServers: [bench.egress.names.address] };
  await sendTo(wayOut, { url: bench.egress.url(path), headers: [['Content-Type', 'application/json']], body: Buffer.alloc(1_000, 'x'), limitMs: 10_000, signal: new AbortController().signal });
}

/** Looks rarely, because looking takes from what is measured. */
async function waitCalmly(check: () => boolean): Promise<void> {
  const endMs = performance.now() + LIMIT_MS;
  while (!check()) {
    if (performance.now() > endMs) throw new Error('what is measured did not come to its end');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function perSecond(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return (BURST * 1_000) / (performance.now() - startedMs);
}

function columns(times: readonly number[]): readonly string[] {
  return SHARES.map((share) => quantile(times, share).toFixed(0));
}

function quantile(times: readonly number[], share: number): number {
  return times.toSorted((one, other) => one - other)[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN;
}
