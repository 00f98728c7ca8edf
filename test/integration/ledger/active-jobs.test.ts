import { expect } from 'chai';
import { isoTime } from '../../../shared/clock/clock.ts';
import { retryTransient } from '../../../shared/consume/retry.ts';
import type { EventData } from '../../../shared/events/registry.ts';
import { newId } from '../../../shared/ids/ids.ts';
import type { HoldAnswer } from '../../../shared/ledger-client/messages.ts';
import { cancelled, conversionStarted, expired, failed, sourceReceived } from '../../support/job-events.ts';
import { createdFor, finishedAfterMinutes, sumsOf, World } from './world.ts';

const MAX = 5;
const RIVALS = 50;
/** After this time the jobs of these tests stop counting while they wait for their file, in ms. */
const GRACE_MS = 60_000;
const NEVER = new AbortController().signal;
const REFUSED = { ok: false, code: 'active_job_limit_reached', limit: MAX } as const;

describe('the cap of active jobs (§8 rate limits 6, D41)', function () {
  this.timeout(60_000);
  let world: World;

  before(async () => {
    world = await World.start();
    await world.startLedger({ uploadGraceMs: GRACE_MS });
  });
  after(() => world.stop());

  function hold(organizationId: string, jobId: string = newId(Date.now())): Promise<HoldAnswer> {
    return world.hold(organizationId, 1, jobId, MAX);
  }

  /** Asks again with the same job while the ledger cannot serve. */
  function holdAtLast(organizationId: string): Promise<HoldAnswer> {
    const jobId = newId(Date.now());
    return retryTransient(() => hold(organizationId, jobId), NEVER);
  }

  /** A job that was created so many milliseconds ago and waits for its file. */
  async function waitingJob(organizationId: string, ageMs = 0, data: Partial<EventData<'job.created'>> = {}): Promise<string> {
    const jobId = newId(Date.now());
    expect(await hold(organizationId, jobId)).to.have.property('ok', true);
    const atMs = Date.now() - ageMs;
    await world.append(organizationId, jobId, createdFor(organizationId, { created_at: isoTime(atMs), upload_deadline_at: isoTime(atMs + 7_200_000), ...data }));
    return jobId;
  }

  /** An organization with as many active jobs as it may have. */
  async function fullOrganization(first: (organizationId: string) => Promise<string> = (id) => waitingJob(id)): Promise<{ id: string; jobs: readonly string[] }> {
    const id = await world.organizationWith(100);
    const jobs = [await first(id)];
    while (jobs.length < MAX) jobs.push(await waitingJob(id));
    return { id, jobs };
  }

  it('refuses the sixth job with the limit, and changes nothing', async () => {
    const { id } = await fullOrganization();
    expect(await hold(id)).to.deep.equal(REFUSED);
    expect(sumsOf(await world.credits(id))).to.include({ held: MAX, balance: 100 - MAX });
  });

  it('does not refuse an organization that is asked for without a cap', async () => {
    const { id } = await fullOrganization();
    expect(await world.hold(id, 1)).to.have.property('ok', true);
    expect(await hold(id)).to.deep.equal(REFUSED);
  });

  it('does not refuse the hold of a job that has one already', async () => {
    const { id, jobs } = await fullOrganization();
    expect(await hold(id, jobs[0])).to.have.property('ok', true);
  });

  it('counts jobs that are queued or processing, and imports by URL of any age', async () => {
    const { id, jobs } = await fullOrganization((organizationId) => waitingJob(organizationId, GRACE_MS * 2, { import: 'url' }));
    await world.append(id, jobs[1] ?? '', sourceReceived);
    await world.append(id, jobs[2] ?? '', sourceReceived, conversionStarted());
    expect(await hold(id)).to.deep.equal(REFUSED);
  });

  for (const [how, ...events] of [
    ['finished', sourceReceived, conversionStarted(), finishedAfterMinutes(1)],
    ['failed', sourceReceived, failed()],
    ['was cancelled', cancelled],
    ['expired', expired('never_uploaded')],
    ['was deleted', { type: 'job.deleted', data: { held_credits_released: true } }],
  ] as const) {
    it(`never refuses because of a job that just ${how}`, async () => {
      const { id, jobs } = await fullOrganization();
      for (let round = 0; round < MAX; round += 1) {
        await world.append(id, jobs[round] ?? '', ...events);
        await waitingJob(id);
        expect(await hold(id)).to.deep.equal(REFUSED);
      }
    });
  }

  it('stops counting a job whose file has not come within the hour, and counts it again when it comes after all', async () => {
    const { id, jobs } = await fullOrganization((organizationId) => waitingJob(organizationId, GRACE_MS + 1_000));
    await waitingJob(id);
    expect(await hold(id)).to.deep.equal(REFUSED);
    await world.append(id, jobs[1] ?? '', cancelled);
    // It takes the organization above the cap for a while, which is accepted.
    await world.append(id, jobs[0] ?? '', sourceReceived);
    expect(await hold(id)).to.deep.equal(REFUSED);
  });

  it('still counts a job whose file has not come for a little less', async () => {
    const { id } = await fullOrganization((organizationId) => waitingJob(organizationId, GRACE_MS - 20_000));
    expect(await hold(id)).to.deep.equal(REFUSED);
  });

  it('stops counting a job whose upload window is over before anybody has said so', async () => {
    const { id } = await fullOrganization((organizationId) => waitingJob(organizationId, 0, { upload_deadline_at: isoTime(Date.now() - 1) }));
    await waitingJob(id);
    expect(await hold(id)).to.deep.equal(REFUSED);
  });

  it('comes before the balance (D1)', async () => {
    const id = await world.organizationWith(MAX);
    for (let job = 0; job < MAX; job += 1) await waitingJob(id);
    expect(await hold(id)).to.deep.equal(REFUSED);
    expect(await world.hold(id, 1)).to.have.property('code', 'insufficient_credits');
  });

  it(`lets exactly ${MAX} of ${RIVALS} rivals through, with one ledger and with two (D29)`, async () => {
    for (const ledgers of [1, 2]) {
      const second = ledgers === 2 ? await world.startLedger({ uploadGraceMs: GRACE_MS }) : undefined;
      const id = await world.organizationWith(100);
      // A slow machine keeps some of so many waiting too long; they ask again, as clients do after a 503.
      const answers = await Promise.all(Array.from({ length: RIVALS }, () => holdAtLast(id)));
      expect(answers.filter(({ ok }) => ok), `${ledgers} ledgers`).to.have.length(MAX);
      for (const answer of answers) if (!answer.ok) expect(answer).to.deep.equal(REFUSED);
      expect(sumsOf(await world.credits(id))).to.include({ held: MAX });
      await second?.stop();
    }
  });

  it('gives the last place to exactly one of two (D29)', async () => {
    const second = await world.startLedger({ uploadGraceMs: GRACE_MS });
    for (let round = 0; round < 10; round += 1) {
      const id = await world.organizationWith(100);
      for (let job = 1; job < MAX; job += 1) await hold(id);
      const answers = await Promise.all([hold(id), hold(id)]);
      expect(answers.filter(({ ok }) => ok)).to.have.length(1);
    }
    await second.stop();
  });
});
