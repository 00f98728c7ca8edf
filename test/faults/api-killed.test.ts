import { expect } from 'chai';
import { waitFor } from '../../services/standalone/processes.ts';
import type { JobView } from '../../shared/domain/job-view.ts';
import { Books, requireCleanAudit } from '../support/books.ts';
import { tasksOf } from '../support/client.ts';
import { faultService, HOLD_RELEASE_SECONDS, type FaultService } from '../support/fault-service.ts';
import { inParallel } from '../support/in-parallel.ts';
import { creditsByJob, readLog, typesByJob } from '../support/log-reading.ts';
import { makeDot } from '../support/pictures.ts';

/** In each round dozens of requests are cut off at some moment; one round nearly always hits the gap. */
const ROUNDS_MAX = 8;
const CREATES = 60;
/** So many answers are let through before the kill, so that it falls into the middle of the others. */
const ANSWERS_BEFORE_KILL = 15;
const RELEASED_LIMIT_MS = HOLD_RELEASE_SECONDS * 1_000 + 90_000;

describe('When the api is killed', function () {
  this.timeout(360_000);
  let world: FaultService;

  before(async () => {
    world = await faultService();
  });

  /** Holds of an organization that no job stands against. */
  async function findOrphans(organizationId: string): Promise<ReadonlyMap<string, readonly string[]>> {
    const jobs = typesByJob(await readLog(world.operator.nc, 'JOBS'));
    const credits = creditsByJob((await readLog(world.operator.nc, 'CREDITS')).filter(({ tenant }) => tenant === organizationId));
    return new Map([...credits].filter(([jobId]) => jobs.get(jobId)?.includes('job.created') !== true));
  }

  it('between the hold and job.created, the hold is released and no promised job is missing', async () => {
    const books = await Books.open(world.service, world.operator, CREATES * ROUNDS_MAX);
    let orphans = await findOrphans(books.organization.id);
    for (let round = 0; round < ROUNDS_MAX && orphans.size === 0; round += 1) {
      let answered = 0;
      await inParallel(CREATES, CREATES, async () => {
        const answer = await books.tryCreate(tasksOf('jpg', 'png'));
        answered += 1;
        if (answered === ANSWERS_BEFORE_KILL) world.service.kill('api');
        return answer;
      });
      await world.service.untilReady();
      orphans = await findOrphans(books.organization.id);
    }
    expect(orphans.size, 'holds without a job').to.be.greaterThan(0);
    await waitFor('the release of holds without a job', RELEASED_LIMIT_MS, async () => [...(await findOrphans(books.organization.id)).values()].every((kinds) => kinds.at(-1) === 'released') || undefined);
    // A client that got no answer finds its job in the list.
    await books.cancelWaiting();
    await books.requireRight();
    await requireCleanAudit(world.service);
  });

  it('while a client waits, the client asks again and gets its result', async () => {
    const books = await Books.open(world.service, world.operator, 1);
    const job = await books.create(tasksOf('jpg', 'png'));
    const poll = books.client.send<JobView>('GET', `/v1/jobs/${job.id}?wait=25`).then(({ status }) => status, () => 'broken' as const);
    // Answered on a later connection, so that the poll has arrived too.
    await books.client.readJob(job.id);
    world.service.kill('api');
    expect(await poll).to.equal('broken');
    await world.service.untilReady();
    expect((await books.client.upload(job, await makeDot())).status).to.equal(200);
    expect((await books.client.waitForStatus(job.id, 'finished', 'error')).status).to.equal('finished');
    await books.requireRight();
    await requireCleanAudit(world.service);
  });
});
