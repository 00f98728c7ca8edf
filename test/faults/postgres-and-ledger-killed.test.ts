import { expect } from 'chai';
import { waitFor } from '../../services/standalone/processes.ts';
import type { JobView } from '../../shared/domain/job-view.ts';
import { Books, requireCleanAudit } from '../support/books.ts';
import { tasksOf, type Answer, type ErrorBody } from '../support/client.ts';
import { faultService, type FaultService } from '../support/fault-service.ts';
import type { ProcessName } from '../support/service.ts';

/** The process comes back within a fraction of a second, so it is killed again until the gap is met. */
const GAP_LIMIT_MS = 90_000;

describe('When a part that only some requests need is killed', function () {
  this.timeout(300_000);
  let world: FaultService;
  let books: Books;
  let job: JobView;

  before(async () => {
    world = await faultService();
    books = await Books.open(world.service, world.operator, 1_000);
    job = await books.create(tasksOf('jpg', 'png'));
  });

  /** Kills a process whenever it runs and asks meanwhile, until an answer is 503. */
  async function untilRefused(name: ProcessName, ask: () => Promise<Answer<ErrorBody> | undefined>): Promise<Answer<ErrorBody>> {
    return waitFor(`a 503 while ${name} is away`, GAP_LIMIT_MS, async () => {
      if (world.service.pidOf(name) !== undefined) world.service.kill(name);
      const answer = await ask();
      expect(answer?.status, answer?.bytes.toString()).to.be.oneOf([200, 201, 503]);
      return answer?.status === 503 ? answer : undefined;
    });
  }

  it('single jobs are read and created without Postgres; lists answer 503, and again 200 afterwards', async () => {
    const refused = await untilRefused('postgres', async () => {
      const [single, list] = await Promise.all([books.client.send('GET', `/v1/jobs/${job.id}`), books.client.send<ErrorBody>('GET', '/v1/jobs')]);
      expect(single.status, single.bytes.toString()).to.equal(200);
      return list;
    });
    requireRetry(refused, 'read_model_unavailable');
    const created = await books.create(tasksOf('jpg', 'png'));
    expect((await books.listAll()).map(({ id }) => id)).to.include(created.id);
    await world.service.untilReady();
  });

  it('jobs are read without a ledger, but none is created; afterwards they are', async () => {
    const refused = await untilRefused('ledger', async () => {
      expect((await books.client.send('GET', `/v1/jobs/${job.id}`)).status).to.equal(200);
      return (await books.tryCreate(tasksOf('jpg', 'png'))) as Answer<ErrorBody> | undefined;
    });
    requireRetry(refused, 'credit_service_unavailable');
    await world.service.untilReady();
    await books.create(tasksOf('jpg', 'png'));
  });

  it('the books are right', async () => {
    await books.cancelWaiting();
    await books.requireRight();
    await requireCleanAudit(world.service);
  });
});

function requireRetry(answer: Answer<ErrorBody>, reason: string): void {
  expect(answer.body.error.code).to.equal('internal');
  expect(answer.body.error.details).to.deep.equal({ retryable: true, reason });
  expect(Number(answer.headers.get('retry-after'))).to.be.greaterThan(0);
}
