import { expect } from 'chai';
import { Findings } from '../../../services/cli/audit/findings.ts';
import { verifyLog, type LogReport } from '../../../services/cli/audit/verify.ts';
import { systemClock } from '../../../shared/clock/clock.ts';
import { newId } from '../../../shared/ids/ids.ts';
import { inParallel } from '../../support/in-parallel.ts';
import { cancelled, created, expired, finished, multipartCompleted, multipartStarted } from '../../support/job-events.ts';
import { createdFor, jobUpToConversion, World } from '../ledger/world.ts';

const RUNS = 6;
/** Jobs that are there before the audit begins, so that reading them takes a while. */
const JOBS_BEFORE = 200;
const WRITERS = 6;
const HOUR_MS = 3_600_000;

describe('the audit of a log that services write to', function () {
  this.timeout(120_000);
  let world: World;
  beforeEach(async () => (world = await World.start()));
  afterEach(() => world.stop());

  async function audit(): Promise<{ readonly findings: Findings; readonly report: LogReport }> {
    const findings = new Findings();
    return { findings, report: await verifyLog(world.nc, findings, systemClock, () => undefined) };
  }

  it('finds nothing, run after run, while credits are held, jobs created, ended and settled', async () => {
    await world.startLedger();
    const organizationId = await world.organizationWith(1_000_000);
    const runJob = async (): Promise<void> => {
      const jobId = newId(Date.now());
      expect(await world.hold(organizationId, 1, jobId)).to.have.property('ok', true);
      await world.append(organizationId, jobId, createdNow(organizationId), cancelled);
    };
    await inParallel(JOBS_BEFORE, WRITERS, runJob);
    const over = new AbortController();
    const writing = inParallel(WRITERS, WRITERS, async () => {
      while (!over.signal.aborted) await runJob();
    });
    const shown: unknown[] = [];
    const jobs: number[] = [];
    try {
      for (let run = 0; run < RUNS; run += 1) {
        const { findings, report } = await audit();
        shown.push(...findings.shown);
        jobs.push(report.jobs);
      }
    } finally {
      over.abort();
      await writing;
    }
    expect(shown).to.deep.equal([]);
    expect(jobs.at(-1), 'jobs came meanwhile').to.be.above(jobs[0] ?? 0);
  });

  it('still finds a job without a hold, and credits charged for no job', async () => {
    await world.startLedger();
    const organizationId = await world.organizationWith(10);
    const [unpaid, imagined] = [newId(Date.now()), newId(Date.now())];
    await world.append(organizationId, unpaid, createdNow(organizationId));
    expect(await world.hold(organizationId, 1, imagined)).to.have.property('ok', true);
    const credits = { kind: 'credits', id: organizationId } as const;
    const [last] = (await world.credits(organizationId)).slice(-1);
    if (!last) throw new Error('there is a hold');
    const data = { job_id: imagined, amount: 1, held: 1, billable_ms: 1, speed_factor: 1, weight: 1 };
    const origin = { commandId: newId(Date.now()), correlationId: imagined, causationId: imagined, actor: 'operator', tenant: organizationId, service: 'ledger', nowMs: Date.now() } as const;
    await world.store.append(credits, { version: last.version, hash: last.hash }, { type: 'credits.charged', data }, origin);
    const { findings } = await audit();
    expect(findings.shown).to.deep.equal([
      { check: 'ledger', subject: `job.${unpaid}`, problem: 'no credits were ever held' },
      { check: 'ledger', subject: `job.${imagined}`, problem: 'credits were charged for a job that does not exist' },
    ]);
  });

  it('names jobs whose deadline passed long ago without an event, and no others', async () => {
    const organizationId = newId(Date.now());
    const long = createdFor(organizationId, { key_mode: 'test', credits_estimated: 1 });
    const [waiting, kept, over, fresh, unread, unreadYet] = [newId(Date.now()), newId(Date.now()), newId(Date.now()), newId(Date.now()), newId(Date.now()), newId(Date.now())];
    await world.append(organizationId, waiting, long);
    await world.append(organizationId, kept, createdFor(organizationId, { key_mode: 'test' }), ...jobUpToConversion(organizationId, 1).slice(1), finished({ credits_charged: 0 }));
    await world.append(organizationId, over, long, expired('never_uploaded'));
    const recent = createdNow(organizationId, Date.now() - 2 * HOUR_MS - 60_000);
    await world.append(organizationId, fresh, { ...recent, data: { ...recent.data, key_mode: 'test' } });
    // An assembled file has a day more, in which it is read if it can be.
    await world.append(organizationId, unread, long, multipartStarted, multipartCompleted);
    const today = createdNow(organizationId, Date.now() - 3 * HOUR_MS);
    await world.append(organizationId, unreadYet, { ...today, data: { ...today.data, key_mode: 'test' } }, multipartStarted, multipartCompleted);
    const { findings } = await audit();
    expect(findings.shown.filter(({ check }) => check === 'deadline').map(({ subject }) => subject)).to.have.members([`job.${waiting}`, `job.${kept}`, `job.${unread}`]);
  });
});

/** `job.created` as of now, so that no deadline has passed. */
function createdNow(organizationId: string, createdMs = Date.now()): ReturnType<typeof created> {
  const at = (ms: number): string => new Date(createdMs + ms).toISOString();
  return created({ organization_id: organizationId, created_at: at(0), upload_deadline_at: at(2 * HOUR_MS), expires_at: at(24 * HOUR_MS) });
}
