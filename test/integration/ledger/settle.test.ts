import { expect } from 'chai';
import { jetstreamManager } from '@nats-io/jetstream';
import { Admission } from '../../../services/ledger/admission.ts';
import { Books } from '../../../services/ledger/books.ts';
import { CreditsCopy } from '../../../services/ledger/credits-copy.ts';
import { waitFor } from '../../../services/standalone/processes.ts';
import { systemClock } from '../../../shared/clock/clock.ts';
import { newId } from '../../../shared/ids/ids.ts';
import { connectNats } from '../../../shared/nats/connect.ts';
import { cancelled, deleted, expired, failed, finished } from '../../support/job-events.ts';
import { startDelayingProxy } from './delaying-proxy.ts';
import { createdFor, finishedAfterMinutes, holdRequestOf, logger, sumsOf, World } from './world.ts';

/** How long the consumer of ended jobs may take to work through a test's events, in ms. */
const WORKED_MS_MAX = 15_000;

describe('settling jobs that end', function () {
  this.timeout(60_000);
  let world: World;

  before(async () => {
    world = await World.start();
    await world.startLedger();
  });
  after(() => world.stop());

  /** Waits until no ended job waits for a ledger. */
  function worked(): Promise<true> {
    return waitFor('the ended jobs', WORKED_MS_MAX, async () => {
      const manager = await jetstreamManager(world.nc, { checkAPI: false });
      const info = await manager.consumers.info('JOBS', 'ledger-settle');
      return info.num_pending + info.num_ack_pending === 0 ? true : undefined;
    });
  }

  it('charges what the finished job says and returns the rest of the hold (§2.7, D27, D30)', async () => {
    const organizationId = await world.organizationWith(10);
    const jobId = await world.processingJob(organizationId, 4);
    await world.append(organizationId, jobId, finishedAfterMinutes(3));
    expect(await world.settled(organizationId)).to.deep.equal({ granted: 10, balance: 7, held: 0, charged: 3 });
    const charge = (await world.credits(organizationId)).at(-1);
    expect(charge?.event).to.deep.equal({ type: 'credits.charged', data: { job_id: jobId, amount: 3, held: 4, billable_ms: 180_000, speed_factor: 1, weight: 1 } });
    const finish = (await world.store.load({ kind: 'job', id: jobId })).at(-1);
    expect(charge?.envelope).to.include({ causationid: finish?.envelope.id, correlationid: finish?.envelope.correlationid, actor: 'service:ledger' });
  });

  it('releases the hold of a job that ends in any other way (§2.7, D30)', async () => {
    for (const [end, reason] of [[failed(), 'failed'], [cancelled, 'cancelled'], [expired('never_uploaded'), 'expired'], [deleted(true), 'deleted']] as const) {
      const organizationId = await world.organizationWith(5);
      const jobId = newId(Date.now());
      await world.hold(organizationId, 2, jobId);
      await world.append(organizationId, jobId, createdFor(organizationId), end);
      expect(await world.settled(organizationId)).to.deep.equal({ granted: 5, balance: 5, held: 0, charged: 0 });
      expect((await world.credits(organizationId)).at(-1)?.event.data).to.deep.equal({ job_id: jobId, amount: 2, reason });
    }
  });

  it('leaves a charge alone when the job expires or is deleted later', async () => {
    const organizationId = await world.organizationWith(10);
    const jobId = await world.processingJob(organizationId, 4);
    await world.append(organizationId, jobId, finishedAfterMinutes(2), expired('result_ttl'), deleted(false));
    await worked();
    expect(sumsOf(await world.credits(organizationId))).to.deep.equal({ granted: 10, balance: 8, held: 0, charged: 2 });
    expect(await world.credits(organizationId)).to.have.length(3);
  });

  it('appends nothing for jobs of test keys', async () => {
    const organizationId = await world.organizationWith(10);
    const test = createdFor(organizationId, { key_mode: 'test' });
    for (const end of [finished({ credits_charged: 0 }), failed(), cancelled, deleted(false)]) await world.append(organizationId, newId(Date.now()), test, end);
    await worked();
    expect(await world.credits(organizationId)).to.have.length(1);
  });

  it('happens once for each job when every event is delivered twice, by two ledgers (D30)', async () => {
    const organizationId = await world.organizationWith(100);
    const jobs = await Promise.all(Array.from({ length: 8 }, () => world.processingJob(organizationId, 4)));
    await Promise.all(jobs.map((jobId, index) => world.append(organizationId, jobId, index % 2 === 0 ? finishedAfterMinutes(3) : failed({ attempt: 1 }))));
    expect(await world.settled(organizationId)).to.deep.equal({ granted: 100, balance: 88, held: 0, charged: 12 });
    const second = await world.startLedger();
    const manager = await jetstreamManager(world.nc, { checkAPI: false });
    await manager.consumers.pause('JOBS', 'ledger-settle', new Date(Date.now() + 600_000));
    await manager.consumers.reset('JOBS', 'ledger-settle', 1);
    expect((await manager.consumers.info('JOBS', 'ledger-settle')).num_pending).to.be.at.least(jobs.length);
    await manager.consumers.resume('JOBS', 'ledger-settle');
    await worked();
    expect(sumsOf(await world.credits(organizationId))).to.deep.equal({ granted: 100, balance: 88, held: 0, charged: 12 });
    await second.stop();
  });

  it('does not charge what the formula does not say; the event is kept for a person', async () => {
    const organizationId = await world.organizationWith(10);
    const jobId = await world.processingJob(organizationId, 4);
    await world.append(organizationId, jobId, finished({ billable_ms: 60_000, credits_charged: 2 }));
    await worked();
    expect(sumsOf(await world.credits(organizationId))).to.deep.equal({ granted: 10, balance: 6, held: 4, charged: 0 });
    const manager = await jetstreamManager(world.nc, { checkAPI: false });
    const advisories = (await manager.streams.info('ADVISORIES', { subjects_filter: '>' })).state.subjects ?? {};
    expect(Object.keys(advisories).some((subject) => subject.includes('MSG_TERMINATED.JOBS.ledger-settle'))).to.equal(true);
  });
});

describe('refusing credits', function () {
  this.timeout(60_000);
  let world: World;

  before(async () => {
    world = await World.start();
  });
  after(() => world.stop());

  it('first settles the jobs of the organization that just ended, even when no worker comes to them', async () => {
    const ledger = await world.startLedger();
    const organizationId = await world.organizationWith(6);
    const [finishing, failing] = [await world.processingJob(organizationId, 3), await world.processingJob(organizationId, 3)];
    const manager = await jetstreamManager(world.nc, { checkAPI: false });
    await manager.consumers.pause('JOBS', 'ledger-settle', new Date(Date.now() + 600_000));
    expect(await world.hold(organizationId, 1)).to.deep.equal({ ok: false, code: 'insufficient_credits', credits_required: 1, credits_available: 0 });
    await world.append(organizationId, finishing, finishedAfterMinutes(2));
    await world.append(organizationId, failing, failed({ attempt: 1 }));
    expect(await world.hold(organizationId, 4)).to.include({ ok: true, balance: 0 });
    await manager.consumers.resume('JOBS', 'ledger-settle');
    expect(sumsOf(await world.credits(organizationId))).to.deep.equal({ granted: 6, balance: 0, held: 4, charged: 2 });
    await ledger.stop();
  });

  it('first reads the credits that another process granted, when the copy is behind', async () => {
    const first = await world.startLedger();
    const organizationId = await world.organizationWith(1);
    const behind = await startLedgerBehind(world, 300);
    await world.grant(organizationId, 4);
    expect(behind.copy.tables.findAccount(organizationId)).to.include({ granted: 1 });
    expect(await behind.admission.hold(holdRequestOf(organizationId, 5, newId(Date.now())), performance.now())).to.include({ ok: true, balance: 0 });
    expect(sumsOf(await world.credits(organizationId))).to.deep.equal({ granted: 5, balance: 0, held: 5, charged: 0 });
    await first.stop();
  });
});

/** The deciding part of a ledger whose copy hears of everything `delayMs` late. */
async function startLedgerBehind(world: World, delayMs: number): Promise<{ copy: CreditsCopy; admission: Admission }> {
  const url = new URL(world.server.url);
  const proxy = await startDelayingProxy(Number(url.port), delayMs);
  world.onStop('proxy', () => proxy.stop());
  url.port = String(proxy.port);
  const slow = await connectNats({ url: url.href, name: 'behind', logger });
  world.onStop('connection behind', () => slow.close());
  const copy = await CreditsCopy.open(slow, logger);
  world.onStop('copy behind', () => copy.stop());
  await copy.catchUp(WORKED_MS_MAX);
  const books = new Books(copy, world.store, systemClock);
  return { copy, admission: new Admission({ nc: world.nc, store: world.store, books, clock: systemClock, holdReleaseMs: 120_000, uploadGraceMs: 3_600_000 }) };
}
