import { expect } from 'chai';
import { jobDecider } from '../../../shared/domain/job.ts';
import { ConflictError, DomainError } from '../../../shared/errors/errors.ts';
import { newId } from '../../../shared/ids/ids.ts';
import { afterLast } from '../../../shared/store/event-store.ts';
import { handle } from '../../../shared/store/handle.ts';
import { scheduleTimer } from '../../../shared/timers/timers.ts';
import { waitFor } from '../../../services/standalone/processes.ts';
import { jetstreamManager } from '@nats-io/jetstream';
import { created } from '../../support/job-events.ts';
import { originOf } from '../../support/events.ts';
import { expectFailure } from '../../support/expect-failure.ts';
import { createdFor, finishedAfterMinutes, jobUpToConversion, sumsOf, World } from './world.ts';

/** After this time the ledgers of these tests release a hold without a job, in ms. */
const HOLD_RELEASE_MS = 1_000;
/** How long a timer may take to be handled, in ms. */
const HANDLED_MS_MAX = 15_000;
/** How long five failures with growing waits between them may take, in ms. */
const GIVEN_UP_MS_MAX = 45_000;

describe('a hold whose job is never created', function () {
  this.timeout(60_000);
  let world: World;

  before(async () => {
    world = await World.start();
    await world.startLedger({ holdReleaseMs: HOLD_RELEASE_MS });
  });
  after(() => world.stop());

  /** Waits until as many timers of holds as were set have been handled. */
  function handledTimers(): Promise<true> {
    return waitFor('the timers', HANDLED_MS_MAX, async () => {
      const manager = await jetstreamManager(world.nc, { checkAPI: false });
      const waiting = (await manager.streams.info('TIMERS', { subjects_filter: 'timer.scheduled.orphaned_hold.>' })).state.subjects ?? {};
      const { num_pending, num_ack_pending } = await manager.consumers.info('TIMERS', 'ledger-orphans');
      return Object.keys(waiting).length + num_pending + num_ack_pending === 0 ? true : undefined;
    });
  }

  it('is released once, and says why', async () => {
    const organizationId = await world.organizationWith(5);
    const jobId = newId(Date.now());
    await world.hold(organizationId, 2, jobId);
    expect(await world.settled(organizationId)).to.deep.equal({ granted: 5, balance: 5, held: 0, charged: 0 });
    expect((await world.credits(organizationId)).at(-1)?.event.data).to.deep.equal({ job_id: jobId, amount: 2, reason: 'never_created' });
    await scheduleTimer(world.nc, { kind: 'orphaned_hold', subjectTokens: [organizationId, jobId], dueAtMs: 0 });
    await handledTimers();
    expect(await world.credits(organizationId)).to.have.length(3);
  });

  it('can never be created afterwards, so that no job runs unpaid', async () => {
    const organizationId = await world.organizationWith(5);
    const jobId = newId(Date.now());
    await world.hold(organizationId, 2, jobId);
    await world.settled(organizationId);
    const job = { kind: 'job', id: jobId } as const;
    const late = created({ organization_id: organizationId });
    await expectFailure(world.store.append(job, { version: 0 }, late, originOf(job)), ConflictError);
    await expectFailure(handle(world.store, jobDecider, job, { type: 'create', data: late.data }, originOf(job)), DomainError);
    expect(await world.hold(organizationId, 2, jobId)).to.deep.equal({ ok: false, code: 'already_settled' });
  });

  it('is released also when it was made after its job had been given up', async () => {
    const organizationId = await world.organizationWith(5);
    const jobId = newId(Date.now());
    const job = { kind: 'job', id: jobId } as const;
    await handle(world.store, jobDecider, job, { type: 'abandon' }, { ...originOf(job), tenant: organizationId });
    // Whoever settles ended jobs comes by before there is anything to release.
    await waitFor('the job being settled', HANDLED_MS_MAX, async () => {
      const { num_pending, num_ack_pending } = await (await jetstreamManager(world.nc, { checkAPI: false })).consumers.info('JOBS', 'ledger-settle');
      return num_pending + num_ack_pending === 0 ? true : undefined;
    });
    expect(await world.hold(organizationId, 2, jobId)).to.have.property('ok', true);
    expect(await world.settled(organizationId)).to.deep.equal({ granted: 5, balance: 5, held: 0, charged: 0 });
  });

  it('stays when the job was created, also when the timer comes first to another ledger', async () => {
    const organizationId = await world.organizationWith(5);
    const jobId = newId(Date.now());
    await world.hold(organizationId, 2, jobId);
    await world.append(organizationId, jobId, createdFor(organizationId));
    await handledTimers();
    expect(sumsOf(await world.credits(organizationId))).to.deep.equal({ granted: 5, balance: 3, held: 2, charged: 0 });
    expect(await world.store.load({ kind: 'job', id: jobId })).to.have.length(1);
  });

  it('leaves a timer without a hold without effect', async () => {
    const [organizationId, jobId] = [await world.organizationWith(1), newId(Date.now())];
    await scheduleTimer(world.nc, { kind: 'orphaned_hold', subjectTokens: [organizationId, jobId], dueAtMs: 0 });
    await handledTimers();
    expect(await world.store.load({ kind: 'job', id: jobId })).to.deep.equal([]);
    expect(await world.credits(organizationId)).to.have.length(1);
  });

  it('is found by the next ledger that starts when it has no timer', async () => {
    const organizationId = await world.organizationWith(5);
    const credits = { kind: 'credits', id: organizationId } as const;
    const held = { type: 'credits.held', data: { job_id: newId(Date.now()), amount: 2 } } as const;
    // Appended as a ledger would have that died before it could set the timer again; older than the release time.
    const origin = { ...originOf(credits), nowMs: Date.now() - 2 * HOLD_RELEASE_MS };
    await world.store.append(credits, afterLast(await world.store.load(credits)), held, origin);
    const next = await world.startLedger({ holdReleaseMs: HOLD_RELEASE_MS });
    expect(await world.settled(organizationId)).to.deep.equal({ granted: 5, balance: 5, held: 0, charged: 0 });
    await next.stop();
  });

  it('is released in time by the next ledger that starts when its timer was lost', async () => {
    const [organizationId, jobId] = [await world.organizationWith(5), newId(Date.now())];
    const credits = { kind: 'credits', id: organizationId } as const;
    const heldAtMs = Date.now();
    await world.store.append(credits, afterLast(await world.credits(organizationId)), { type: 'credits.held', data: { job_id: jobId, amount: 2 } }, originOf(credits));
    const next = await world.startLedger({ holdReleaseMs: 4_000 });
    expect(await world.settled(organizationId)).to.deep.equal({ granted: 5, balance: 5, held: 0, charged: 0 });
    const released = (await world.credits(organizationId)).at(-1)?.envelope.time ?? '';
    expect(Date.parse(released) - heldAtMs, 'not before its time').to.be.at.least(4_000);
    await next.stop();
  });

  it('is settled by the next ledger that starts when settling its job was given up', async () => {
    const organizationId = await world.organizationWith(5);
    const [credits, jobId] = [{ kind: 'credits', id: organizationId } as const, newId(Date.now())];
    await world.append(organizationId, jobId, ...jobUpToConversion(organizationId, 4), finishedAfterMinutes(3));
    await waitFor('the worker to give up', GIVEN_UP_MS_MAX, async () => {
      const manager = await jetstreamManager(world.nc, { checkAPI: false });
      const { num_pending, num_ack_pending } = await manager.consumers.info('JOBS', 'ledger-settle');
      return num_pending + num_ack_pending === 0 ? true : undefined;
    });
    // What kept it from settling is mended: the hold that was missing is there, and long due.
    const held = { type: 'credits.held', data: { job_id: jobId, amount: 4 } } as const;
    await world.store.append(credits, afterLast(await world.credits(organizationId)), held, { ...originOf(credits), nowMs: Date.now() - 2 * HOLD_RELEASE_MS });
    const next = await world.startLedger({ holdReleaseMs: HOLD_RELEASE_MS });
    expect(await world.settled(organizationId)).to.deep.equal({ granted: 5, balance: 2, held: 0, charged: 3 });
    await next.stop();
  });

  it('is either created or released when both happen at once, never both', async () => {
    const organizationId = await world.organizationWith(40);
    const jobs = Array.from({ length: 40 }, () => newId(Date.now()));
    await Promise.all(jobs.map((jobId) => world.hold(organizationId, 1, jobId)));
    const heldAtMs = Date.now();
    const createdOnes = await Promise.all(
      jobs.map(async (jobId, index) => {
        const job = { kind: 'job', id: jobId } as const;
        // Spread around the time at which the timers fire.
        const dueMs = heldAtMs + HOLD_RELEASE_MS - 300 + index * 40;
        await waitFor('the moment', HANDLED_MS_MAX, () => (Date.now() >= dueMs ? true : undefined));
        return world.store.append(job, { version: 0 }, created({ organization_id: organizationId }), originOf(job)).then(() => 1, () => 0);
      }),
    );
    await handledTimers();
    const jobsCreated = createdOnes.reduce<number>((total, one) => total + one, 0);
    const sums = await waitFor('the releases', HANDLED_MS_MAX, async () => {
      const now = sumsOf(await world.credits(organizationId));
      return now.held === jobsCreated ? now : undefined;
    });
    expect(sums).to.deep.equal({ granted: 40, balance: 40 - jobsCreated, held: jobsCreated, charged: 0 });
  });
});
