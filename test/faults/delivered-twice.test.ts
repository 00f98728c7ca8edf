import { expect } from 'chai';
import { jetstreamManager } from '@nats-io/jetstream';
import { waitFor } from '../../services/standalone/processes.ts';
import { CONSUMERS } from '../../streams/consumers.ts';
import { applyStreams } from '../../streams/apply.ts';
import { Books, requireCleanAudit } from '../support/books.ts';
import { tasksOf } from '../support/client.ts';
import { faultService, type FaultService } from '../support/fault-service.ts';
import { inParallel } from '../support/in-parallel.ts';
import { readLog } from '../support/log-reading.ts';
import { makeDot } from '../support/pictures.ts';

const JOBS = 12;
const WIDTH = 4;
const DELIVERED_LIMIT_MS = 120_000;

describe('When every event is delivered to every worker a second time', function () {
  this.timeout(300_000);
  let world: FaultService;

  before(async () => {
    world = await faultService();
  });

  it('nothing happens twice', async () => {
    const books = await Books.open(world.service, world.operator, JOBS);
    const dot = await makeDot();
    await inParallel(JOBS, WIDTH, async (index) => {
      const job = await books.create(tasksOf('jpg', 'png'));
      if (index % 3 === 0) return void (await books.client.send('POST', `/v1/jobs/${job.id}/cancel`));
      // A third of the files is none.
      await books.client.upload(job, index % 3 === 1 ? dot : Buffer.from('this is no picture'));
      await books.client.waitForStatus(job.id, 'finished', 'error');
    });
    const before = await books.requireRight();
    const log = await logs();

    await deliverAgain();

    expect(await logs(), 'the log did not grow').to.deep.equal(log);
    expect(await books.requireRight()).to.deep.equal(before);
    await requireCleanAudit(world.service);
  });

  async function logs(): Promise<readonly unknown[]> {
    return [await readLog(world.operator.nc, 'JOBS'), await readLog(world.operator.nc, 'CREDITS')];
  }

  /** Workers whose durable is gone and new find everything before them again, from the first event on. */
  async function deliverAgain(): Promise<void> {
    const manager = await jetstreamManager(world.operator.nc);
    for (const { stream, durable } of CONSUMERS) await manager.consumers.delete(stream, durable);
    await applyStreams(world.operator.nc, { replicas: 1, log: () => undefined });
    for (const { stream, durable } of CONSUMERS) {
      await waitFor(`${durable} to have worked through everything`, DELIVERED_LIMIT_MS, async () => {
        const { num_pending, num_ack_pending, delivered } = await manager.consumers.info(stream, durable);
        return num_pending === 0 && num_ack_pending === 0 ? delivered : undefined;
      });
    }
  }
});
