import { expect } from 'chai';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { isAlive, waitFor } from '../../services/standalone/processes.ts';
import type { JobView } from '../../shared/domain/job-view.ts';
import { Books, requireCleanAudit } from '../support/books.ts';
import { tasksOf } from '../support/client.ts';
import { faultService, type FaultService } from '../support/fault-service.ts';
import { makeNoise } from '../support/pictures.ts';
import { descendantsOf } from '../support/process-tree.ts';

/** What a killed worker had in hand is delivered again after 30 s. */
const REDELIVERED_LIMIT_MS = 90_000;
/** The kernel ends what was tied to the converter, and the next converter clears up, both within a second or two. */
const CLEAN_LIMIT_MS = 60_000;
/** At these efforts an idle machine takes a second for the first and a minute for the second. */
const SHORT = { effort: 3 };
const LONG = { effort: 9, lossless: true };

describe('When the converter is killed in the middle of conversions', function () {
  this.timeout(360_000);
  let world: FaultService;
  let books: Books;
  let short: JobView;
  let long: JobView;

  before(async () => {
    world = await faultService();
    books = await Books.open(world.service, world.operator, 10);
  });

  async function startJob(noise: Buffer, options: Readonly<Record<string, unknown>>): Promise<JobView> {
    const job = await books.create(tasksOf('jpg', 'avif', options));
    expect((await books.client.upload(job, noise)).status).to.equal(200);
    return job;
  }

  /** Waits until the log has that attempt of the job. */
  async function untilAttempt(job: JobView, attempt: number): Promise<void> {
    await waitFor(`attempt ${attempt}`, REDELIVERED_LIMIT_MS, async () => (await attemptsOf(job)).includes(attempt) || undefined);
  }

  async function attemptsOf(job: JobView): Promise<readonly number[]> {
    const events = await world.operator.accounts.store.load({ kind: 'job', id: job.id });
    return events.flatMap(({ event }) => (event.type === 'job.conversion_started' ? [event.data.attempt] : []));
  }

  /** Kills the converter; whatever it had started must go with it. */
  async function killConverter(): Promise<void> {
    const pid = world.service.pidOf('converter') ?? 0;
    const started = descendantsOf(pid);
    world.service.kill('converter');
    await waitFor('the end of all that the converter had started', CLEAN_LIMIT_MS, () => started.every((child) => !isAlive(child.pid)) || undefined);
    await waitFor('the removal of its folders', CLEAN_LIMIT_MS, async () => ((await readdir(tmpdir())).some((name) => name.startsWith('job-') && name.includes(`-${pid}-`)) ? undefined : true));
  }

  it('the processes and folders of the conversions go with it', async () => {
    short = await startJob(await makeNoise(200, 150), SHORT);
    long = await startJob(await makeNoise(800, 600), LONG);
    await Promise.all([untilAttempt(short, 1), untilAttempt(long, 1)]);
    expect(descendantsOf(world.service.pidOf('converter') ?? 0)).not.to.deep.equal([]);
    await killConverter();
  });

  it('a second attempt gives one result and one charge (D27, D30, D37)', async () => {
    await Promise.all([untilAttempt(short, 2), untilAttempt(long, 2)]);
    const ended = await waitFor('the end of the job', REDELIVERED_LIMIT_MS, async () => {
      const { body } = await books.client.send<JobView>('GET', `/v1/jobs/${short.id}?wait=25`);
      return body.status === 'processing' || body.status === 'queued' ? undefined : body;
    });
    expect(ended).to.include({ status: 'finished', credits_used: 1 });
    expect(await attemptsOf(short)).to.deep.equal([1, 2]);
  });

  it('the third death ends the job as an error that costs nothing (D37, D95)', async () => {
    await killConverter();
    await untilAttempt(long, 3);
    await killConverter();
    const ended = await waitFor('the end of the job', REDELIVERED_LIMIT_MS, async () => {
      const { body } = await books.client.send<JobView>('GET', `/v1/jobs/${long.id}?wait=25`);
      return body.status === 'processing' ? undefined : body;
    });
    expect(ended).to.include({ status: 'error', credits_used: 0 });
    expect(ended.error).to.deep.include({ code: 'internal', details: { reason: 'system_error', cause: 'worker_died', retryable: false } });
    expect(await attemptsOf(long)).to.deep.equal([1, 2, 3]);
  });

  it('the books are right', async () => {
    const jobs = await books.requireRight();
    expect(jobs.map(({ status }) => status)).to.have.members(['finished', 'error']);
    await requireCleanAudit(world.service);
  });
});
