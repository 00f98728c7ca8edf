import { expect } from 'chai';
import { findFreePort } from '../../services/standalone/free-port.ts';
import { isAlive, waitFor } from '../../services/standalone/processes.ts';
import type { JobView } from '../../shared/domain/job-view.ts';
import { Books, requireCleanAudit } from '../support/books.ts';
import { tasksOf, TestClient } from '../support/client.ts';
import { inParallel } from '../support/in-parallel.ts';
import { openOperator, type TestOperator } from '../support/organization.ts';
import { makeDot, makeNoise } from '../support/pictures.ts';
import { descendantsOf } from '../support/process-tree.ts';
import { startService, type TestService } from '../support/service.ts';

/** What a killed worker had in hand is delivered again after 30 s. */
const JOB_LIMIT_MS = 120_000;
/** The service promises to end within this time. */
const STOP_MS_MAX = 20_000;
const CREATES = 40;
const WIDTH = 10;
/** Each key may wait 50 times at once. */
const KEYS = 5;
const POLLS_PER_KEY = 40;
/** With these pixels some seconds on an idle machine, more than a stopping converter waits. */
const SLOW = { effort: 7 };

describe('The whole service', function () {
  this.timeout(420_000);
  let service: TestService;
  let operator: TestOperator;
  let books: Books;
  let running: JobView;
  let settings: Readonly<Record<string, string>>;

  before(async () => {
    // Upload links hold the port, so it stays the same.
    settings = { LOG_LEVEL: 'warn', PORT: String(await findFreePort()) };
    service = await startService({ settings });
    operator = await openOperator(service);
    books = await Books.open(service, operator, CREATES + 10);
  });
  after(async () => {
    await operator.stop();
    await service.stop();
  });

  async function startAgain(): Promise<void> {
    await operator.stop();
    service = await startService({ settings, dataDir: service.dataDir });
    operator = await openOperator(service);
    books = books.continueAt(service, operator);
  }

  async function startConversion(): Promise<JobView> {
    const job = await books.create(tasksOf('jpg', 'avif', SLOW));
    expect((await books.client.upload(job, await makeNoise(400, 300))).status).to.equal(200);
    return waitFor('the start of the conversion', JOB_LIMIT_MS, async () => {
      const { body } = await books.client.send<JobView>('GET', `/v1/jobs/${job.id}?wait=5`);
      return body.status === 'processing' ? job : undefined;
    });
  }

  it('goes on where a power cut stopped it', async () => {
    const dot = await makeDot();
    const waiting = await books.create(tasksOf('jpg', 'png'));
    const converting = await startConversion();
    let cut: Promise<void> | undefined;
    await inParallel(CREATES, WIDTH, async (index) => {
      if (index === CREATES / 2) cut = service.cutPower();
      const answer = await books.tryCreate(tasksOf('jpg', 'png'));
      if (answer?.status === 201) await books.client.upload(answer.body, dot).catch(() => undefined);
    });
    await cut;

    await startAgain();
    expect((await books.client.upload(waiting, dot)).status).to.equal(200);
    await waitFor('the interrupted conversion', JOB_LIMIT_MS, async () => {
      const { body } = await books.client.send<JobView>('GET', `/v1/jobs/${converting.id}?wait=25`);
      return body.status === 'finished' || undefined;
    });
    // What was uploaded is found again by itself; the rest still waits for its file.
    await books.cancelWaiting();
    const jobs = await books.requireRight();
    expect(jobs.find(({ id }) => id === waiting.id)).to.include({ status: 'finished', credits_used: 1 });
    await requireCleanAudit(service);
  });

  it('ends in order while it converts and 200 clients wait', async () => {
    running = await startConversion();
    const watched = await books.create(tasksOf('jpg', 'png'));
    const keys = await inParallel(KEYS, KEYS, () => books.organization.newKey('live'));
    const polls = keys.flatMap(({ secret }) => {
      const client = new TestClient(service.baseUrl, secret);
      return Array.from({ length: POLLS_PER_KEY }, () => client.send<JobView>('GET', `/v1/jobs/${watched.id}?wait=25`));
    });
    const answers = Promise.all(polls);
    // Answered after the polls have arrived.
    await books.client.readJob(watched.id);

    const processes = descendantsOf(service.pid);
    const fromMs = performance.now();
    const code = await service.end();
    expect(performance.now() - fromMs).to.be.lessThan(STOP_MS_MAX);
    expect(code).to.equal(0);
    for (const { status, body } of await answers) expect([status, body.status]).to.deep.equal([200, 'waiting']);
    await waitFor('the end of every process', STOP_MS_MAX, () => processes.every(({ pid }) => !isAlive(pid)) || undefined);
  });

  it('starts again on the same data and ends the conversion that was handed back', async () => {
    await startAgain();
    await books.cancelWaiting();
    const jobs = await books.requireRight();
    expect(jobs.find(({ id }) => id === running.id)).to.include({ status: 'finished', credits_used: 1 });
    const events = await operator.accounts.store.load({ kind: 'job', id: running.id });
    const attempts = events.flatMap(({ event }) => (event.type === 'job.conversion_started' ? [event.data.attempt] : []));
    // A fast machine ends it within the grace of the stop.
    expect(attempts).to.deep.equal([1, 2].slice(0, attempts.length));
    await requireCleanAudit(service);
  });
});
