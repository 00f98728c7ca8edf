import type { ChildProcess } from 'node:child_process';
import { inParallel } from '../test/support/in-parallel.ts';
import { NotifierBench, type TestEndpoint } from '../test/support/notifier-bench.ts';
import { killProcess, spawnNotifier } from '../test/support/notifier-process.ts';
import type { OriginRequest } from '../test/support/origin.ts';
import { vouchForLog } from '../test/support/vouch-for-log.ts';
import { print } from './table.ts';

/**
 * Sends events to endpoints that fail at random while one of two notifiers is killed now and then and nats-server is
 * restarted once, and counts what arrived, what was lost, and what arrived twice. `EVENTS` says how many there are.
 */
const EVENTS = Number(process.env['EVENTS'] ?? 10_000);
const ENDPOINTS = 20;
const WIDTH = 4;
/** A notifier is killed every so many ms. */
const KILL_EVERY_MS = 30_000;
/** An event is refused at most so often, so that all five attempts are never used up by receivers. */
const REFUSALS_MAX = 2;
/** Shares of requests that are answered 500, cut off, and not answered at all. */
const [FAILING, CUT, HANGING] = [0.25, 0.05, 0.01];
/** Between two looks at the log, in ms; looking takes from what is measured. */
const LOOK_EVERY_MS = 3_000;
const LIMIT_MS = 2 * 3_600_000;

type Seen = { accepted: number; refused: number };
type Receiver = { readonly endpoint: TestEndpoint; readonly organizationId: string };

const bench = await NotifierBench.start({ ackWaitMs: 5_000 });
vouchForLog(bench.nc);
const environment = await bench.environment({ WEBHOOK_RETRY_DELAYS_SECONDS: '1,2,4,8', WEBHOOK_TIMEOUT_SECONDS: '5', LOG_LEVEL: 'error' });
const seen = new Map<string, Seen>();
const notifiers: ChildProcess[] = [spawnNotifier(environment), spawnNotifier(environment)];
let kills = 0;
const startedMs = performance.now();
const killing = setInterval(() => void replaceNotifier(), KILL_EVERY_MS);
try {
  const receivers = await Promise.all(Array.from({ length: ENDPOINTS }, () => makeReceiver()));
  await Promise.all([createJobs(receivers), restartHalfway()]);
  await until(() => isOver());
  clearInterval(killing);
  await report(receivers);
} finally {
  clearInterval(killing);
  await Promise.all(notifiers.map(killProcess));
  await bench.stop();
}

async function makeReceiver(): Promise<Receiver> {
  const organizationId = await bench.createOrganization();
  const endpoint = await bench.createEndpoint({ events: ['job.created'], organizationId });
  bench.egress.origin.on(endpoint.path, (socket, request) => {
    const counts = countsOf(request);
    const dice = counts.refused < REFUSALS_MAX ? Math.random() : 1;
    const isRefused = dice < FAILING + CUT + HANGING;
    if (isRefused) counts.refused += 1;
    else counts.accepted += 1;
    if (!isRefused) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    else if (dice < FAILING) socket.end('HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n');
    else if (dice < FAILING + CUT) socket.destroy();
  });
  return { endpoint, organizationId };
}

function countsOf({ headers }: OriginRequest): Seen {
  const id = headers.get('service-event-id') ?? '';
  const counts = seen.get(id) ?? { accepted: 0, refused: 0 };
  seen.set(id, counts);
  return counts;
}

/** While nats-server is restarted a job is created at a later try; one whose acknowledgement was lost is one more event. */
async function createJobs(receivers: readonly Receiver[]): Promise<void> {
  await inParallel(EVENTS, WIDTH, async (index) => {
    const organization_id = receivers[index % ENDPOINTS]?.organizationId ?? '';
    while (!(await bench.createJob({ organization_id }).then(() => true, () => false))) await pause(200);
  });
}

async function restartHalfway(): Promise<void> {
  await until(() => Promise.resolve(seen.size > EVENTS / 2));
  await bench.server.restart();
}

async function replaceNotifier(): Promise<void> {
  kills += 1;
  const [oldest] = notifiers.splice(0, 1);
  notifiers.push(spawnNotifier(environment));
  if (oldest) await killProcess(oldest);
}

async function isOver(): Promise<boolean> {
  const events = await bench.deliveryEvents().catch(() => []);
  const queued = events.filter(({ event }) => event.type === 'delivery.queued').length;
  const ended = events.filter(({ event }) => event.type === 'delivery.stopped' || (event.type === 'delivery.attempted' && event.data.next_attempt_at === undefined)).length;
  return queued >= EVENTS && ended === queued;
}

async function report(receivers: readonly Receiver[]): Promise<void> {
  const deliveries = (await Promise.all(receivers.map(({ endpoint }) => bench.deliveriesTo(endpoint)))).flat();
  const interrupted = (await bench.deliveryEvents()).filter(({ event }) => event.type === 'delivery.attempted' && event.data.failure === 'interrupted');
  const counts = [...seen.values()];
  const rows: readonly (readonly [string, number])[] = [
    ['events queued', deliveries.length],
    ['delivered', deliveries.filter(({ status }) => status === 'delivered').length],
    ['given up after five attempts', deliveries.filter(({ status }) => status === 'failed').length],
    ['lost: queued and accepted by nobody', deliveries.length - counts.filter(({ accepted }) => accepted > 0).length],
    ['accepted more than once', counts.filter(({ accepted }) => accepted > 1).length],
    ['refused by the receivers', counts.reduce((sum, { refused }) => sum + refused, 0)],
    ['attempts that a kill interrupted', interrupted.length],
    ['most attempts of one', Math.max(...deliveries.map(({ attempts }) => attempts))],
    ['notifiers killed', kills],
    ['seconds', Math.round((performance.now() - startedMs) / 1_000)],
  ];
  print([[`${EVENTS} events to ${ENDPOINTS} endpoints`, 'count'], ...rows.map(([what, count]) => [what, String(count)])]);
}

async function until(check: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + LIMIT_MS;
  while (!(await check())) {
    if (performance.now() > endMs) throw new Error('the events did not come to their end');
    await pause(LOOK_EVERY_MS);
  }
}

async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}
