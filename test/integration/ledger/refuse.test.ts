import { expect } from 'chai';
import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { Books } from '../../../services/ledger/books.ts';
import { CreditsCopy } from '../../../services/ledger/credits-copy.ts';
import { EndedJobs } from '../../../services/ledger/ended-jobs.ts';
import { waitFor } from '../../../services/standalone/processes.ts';
import { systemClock } from '../../../shared/clock/clock.ts';
import { balanceOf } from '../../../shared/domain/credits.ts';
import { TransientError } from '../../../shared/errors/errors.ts';
import { newId } from '../../../shared/ids/ids.ts';
import { connectNats } from '../../../shared/nats/connect.ts';
import { afterLast, type EventStore } from '../../../shared/store/event-store.ts';
import { originOf } from '../../support/events.ts';
import { cancelled } from '../../support/job-events.ts';
import { startDelayingProxy } from './delaying-proxy.ts';
import { createdFor, logger, sumsOf, World } from './world.ts';

/** More open holds than are looked at one by one. */
const MANY = 320;
/** With this wait for each load, looking at that many holds takes longer than a refusal may, in ms. */
const LOAD_MS = 150;
/** So far is the server away that one request can read next to nothing within its time, in ms. */
const FAR_MS = 350;
const WORKED_MS_MAX = 30_000;

describe('refusing credits to an organization (D30)', function () {
  this.timeout(120_000);
  let world: World;
  let manager: JetStreamManager;

  beforeEach(async () => {
    world = await World.start();
    manager = await jetstreamManager(world.nc, { checkAPI: false });
  });
  afterEach(() => world.stop());

  function pauseWorker(): Promise<unknown> {
    return manager.consumers.pause('JOBS', 'ledger-settle', new Date(Date.now() + 600_000));
  }

  /** Holds one credit for each of so many jobs, without asking a ledger each time. */
  async function holdAll(organizationId: string, count: number): Promise<readonly string[]> {
    const credits = { kind: 'credits', id: organizationId } as const;
    const jobs = Array.from({ length: count }, () => newId(Date.now()));
    let after = afterLast(await world.credits(organizationId));
    for (const jobId of jobs) after = await world.store.append(credits, after, { type: 'credits.held', data: { job_id: jobId, amount: 1 } }, originOf(credits));
    return jobs;
  }

  async function cancelJob(organizationId: string, jobId: string): Promise<void> {
    await world.append(organizationId, jobId, createdFor(organizationId), cancelled);
  }

  it('gives each of two requests the credits of a job that ended, while the worker stands still', async () => {
    await world.startLedger();
    const organizationId = await world.organizationWith(50);
    const jobs = await holdAll(organizationId, 50);
    await pauseWorker();
    // One in the first page of open holds, one behind it: the first request stops looking at the first.
    for (const index of [0, 40]) await cancelJob(organizationId, jobs[index]!);
    const answers = await Promise.all([world.hold(organizationId, 1), world.hold(organizationId, 1)]);
    expect(answers.map(({ ok }) => ok)).to.deep.equal([true, true]);
    expect(await world.hold(organizationId, 1)).to.deep.equal({ ok: false, code: 'insufficient_credits', credits_required: 1, credits_available: 0 });
    expect(sumsOf(await world.credits(organizationId))).to.deep.equal({ granted: 50, balance: 0, held: 50, charged: 0 });
  });

  it('answers 402 and never 503, however many jobs go on', async () => {
    const slow: EventStore = {
      append: (...args) => world.store.append(...args),
      load: async (aggregate) => {
        if (aggregate.kind === 'job') await new Promise((resolve) => setTimeout(resolve, LOAD_MS));
        return world.store.load(aggregate);
      },
    };
    await world.startLedger({ store: slow });
    const organizationId = await world.organizationWith(MANY);
    await holdAll(organizationId, MANY);
    for (let request = 0; request < 3; request += 1) {
      expect(await world.hold(organizationId, 1)).to.deep.equal({ ok: false, code: 'insufficient_credits', credits_required: 1, credits_available: 0 });
    }
  });

  it('finds the one of many jobs that ended, while the worker stands still', async () => {
    await world.startLedger();
    const [organizationId, other] = [await world.organizationWith(MANY), await world.organizationWith(2)];
    const jobs = await holdAll(organizationId, MANY);
    await pauseWorker();
    const foreign = await holdAll(other, 1);
    await cancelJob(other, foreign[0]!);
    await cancelJob(organizationId, jobs[MANY - 1]!);
    expect(await world.hold(organizationId, 1)).to.include({ ok: true, balance: 0 });
    expect(await world.hold(organizationId, 1)).to.have.property('code', 'insufficient_credits');
    expect(sumsOf(await world.credits(other)), 'each organization in its own turn').to.include({ held: 1 });
    await manager.consumers.resume('JOBS', 'ledger-settle');
    await waitFor('the ended jobs', WORKED_MS_MAX, async () => (sumsOf(await world.credits(other)).held === 0 ? true : undefined));
    expect(sumsOf(await world.credits(organizationId))).to.include({ held: MANY, balance: 0 });
  });

  it('gets further with every repeat when there is more to read than one request has time for', async () => {
    const ledger = await world.startLedger();
    const organizationId = await world.organizationWith(MANY);
    const other = await world.organizationWith(10);
    const jobs = await holdAll(organizationId, MANY);
    const foreign = await holdAll(other, 4);
    await pauseWorker();
    for (const jobId of foreign) await cancelJob(other, jobId);
    await cancelJob(organizationId, jobs[0]!);
    await ledger.stop();

    const copy = await CreditsCopy.open(world.nc, logger);
    world.onStop('copy', () => copy.stop());
    await copy.catchUp(WORKED_MS_MAX);
    const books = new Books(copy, world.store, systemClock);
    const url = new URL(world.server.url);
    const proxy = await startDelayingProxy(Number(url.port), FAR_MS);
    world.onStop('proxy', () => proxy.stop());
    url.port = String(proxy.port);
    const nc = await connectNats({ url: url.href, name: 'far', logger });
    world.onStop('far connection', () => nc.close());

    const endedJobs = new EndedJobs({ nc, store: world.store, books });
    const tries: unknown[] = [];
    while (tries.length <= foreign.length) {
      tries.push(await books.inTurn(organizationId, () => endedJobs.settle(organizationId, 1, performance.now())).catch((error: unknown) => error));
      if (tries.at(-1) === undefined) break;
      expect(tries.at(-1)).to.be.instanceOf(TransientError);
    }
    expect(tries.length, 'one request was too short').to.be.above(1);
    expect(tries.at(-1), 'the last request').to.equal(undefined);
    expect(balanceOf(books.tables.readState(organizationId, undefined))).to.equal(1);
  });
});
