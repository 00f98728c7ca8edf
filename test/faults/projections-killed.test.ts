import { expect } from 'chai';
import { Books, requireCleanAudit } from '../support/books.ts';
import { tasksOf } from '../support/client.ts';
import { faultService, type FaultService } from '../support/fault-service.ts';
import { inParallel } from '../support/in-parallel.ts';

const CREATES = 300;
const WIDTH = 10;
const KILL_EVERY = 60;

describe('When projections is killed in the middle of its batches', function () {
  this.timeout(300_000);
  let world: FaultService;

  before(async () => {
    world = await faultService();
  });

  it('jobs are created all the same, and the lists catch up with every one of them', async () => {
    const books = await Books.open(world.service, world.operator, CREATES);
    await inParallel(CREATES, WIDTH, async (index) => {
      if (index % KILL_EVERY === 0 && world.service.pidOf('projections') !== undefined) world.service.kill('projections');
      return books.create(tasksOf('jpg', 'png'));
    });
    expect(await books.listAll()).to.have.length(CREATES);
    await inParallel(CREATES, WIDTH, async (index) => {
      if (index % KILL_EVERY === 0 && world.service.pidOf('projections') !== undefined) world.service.kill('projections');
      const answer = await books.client.send('POST', `/v1/jobs/${[...books.promised][index]}/cancel`);
      expect(answer.status, answer.bytes.toString()).to.equal(200);
    });
    await world.service.untilReady();
    await books.requireRight();
    await requireCleanAudit(world.service);
  });
});
