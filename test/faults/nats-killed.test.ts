import { expect } from 'chai';
import { waitFor } from '../../services/standalone/processes.ts';
import { Books, requireCleanAudit } from '../support/books.ts';
import { tasksOf, type Answer } from '../support/client.ts';
import { faultService, type FaultService } from '../support/fault-service.ts';
import { inParallel } from '../support/in-parallel.ts';
import { makeDot } from '../support/pictures.ts';

const CREATES = 200;
const WIDTH = 10;
const POLLS = 20;
const POLL_SECONDS = 20;
/** The supervisor starts a server again within seconds, a busy machine takes longer. */
const RUNNING_MS_MAX = 60_000;

describe('When nats-server is killed under load', function () {
  this.timeout(300_000);
  let world: FaultService;

  before(async () => {
    world = await faultService();
  });

  it('every job that was promised is there, everything else was refused with 503, and long polls live on', async () => {
    const books = await Books.open(world.service, world.operator, CREATES * 2);
    const watched = await books.create(tasksOf('jpg', 'png'));
    const polls = Promise.all(Array.from({ length: POLLS }, () => books.client.send('GET', `/v1/jobs/${watched.id}?wait=${POLL_SECONDS}`)));

    const answers = await inParallel(CREATES, WIDTH, async (index) => {
      if (index === CREATES / 4 || index === CREATES / 2) {
        // The second time it may still be on its way back from the first.
        await waitFor('a nats-server to kill', RUNNING_MS_MAX, () => world.service.pidOf('nats-server') !== undefined || undefined);
        world.service.kill('nats-server');
      }
      return books.tryCreate(tasksOf('jpg', 'png'));
    });
    for (const answer of answers) requireCreatedOrRetry(answer);
    expect(books.promised.size).to.be.greaterThan(1);
    await world.service.untilReady();

    // The poll is woken by a fact that came after the outage.
    expect((await books.client.upload(watched, await makeDot())).status).to.equal(200);
    for (const { status } of await polls) expect(status).to.equal(200);
    expect((await books.client.waitForStatus(watched.id, 'finished', 'error')).status).to.equal('finished');

    await books.cancelWaiting();
    await books.requireRight();
    await requireCleanAudit(world.service);
  });
});

/** 201, or 503 with what a client needs to try again; the connection to the api itself never breaks. */
function requireCreatedOrRetry(answer: Answer | undefined): void {
  if (answer?.status === 201) return;
  expect(answer?.status, answer?.bytes.toString()).to.equal(503);
  expect(Number(answer?.headers.get('retry-after'))).to.be.greaterThan(0);
  expect(answer?.body).to.have.nested.property('error.details.retryable', true);
}
