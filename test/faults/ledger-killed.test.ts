import { expect } from 'chai';
import { waitFor } from '../../services/standalone/processes.ts';
import type { DomainEvent } from '../../shared/events/registry.ts';
import { newId } from '../../shared/ids/ids.ts';
import { endProcess, LedgerProcesses } from '../integration/ledger/ledger-processes.ts';
import { finishedAfterMinutes, jobUpToConversion, sumsOf, type World } from '../integration/ledger/world.ts';
import { failed } from '../support/job-events.ts';

/** Jobs of the test, and how many of them run side by side. */
const JOBS = 60;
const LANES = 6;
/** How long one hold, or a quarter of the jobs, may take while ledgers die, in ms. */
const PROGRESS_MS_MAX = 30_000;
/** A message in the hands of a ledger that died is delivered again after 30 s; this is twice as long. */
const SETTLED_MS_MAX = 60_000;

describe('a ledger that is killed again and again under load', function () {
  this.timeout(180_000);
  let world: World;
  let processes: LedgerProcesses;

  before(async () => {
    processes = await LedgerProcesses.open();
    world = processes.world;
  });
  after(() => processes.stop());

  /** Asks until it is answered, as a client that retries does; with the same job id every time. */
  function holdPatiently(organizationId: string, amount: number, jobId: string): Promise<boolean> {
    return waitFor('an answer', PROGRESS_MS_MAX, () => world.hold(organizationId, amount, jobId).then(({ ok }) => ok, () => undefined));
  }

  async function runJobs(organizationId: string, lane: number, onJob: () => void): Promise<void> {
    for (let index = lane; index < JOBS; index += LANES) {
      const jobId = newId(Date.now());
      expect(await holdPatiently(organizationId, 2, jobId)).to.equal(true);
      await world.append(organizationId, jobId, ...jobUpToConversion(organizationId, 2), endOf(index));
      onJob();
    }
  }

  it('loses nothing and charges nothing twice', async () => {
    let ledger = await processes.startReady();
    const organizationId = await world.organizationWith(JOBS * 2);
    let done = 0;
    const lanes = Array.from({ length: LANES }, (_, lane) => runJobs(organizationId, lane, () => (done += 1)));
    for (const mark of [JOBS / 4, JOBS / 2, (JOBS * 3) / 4]) {
      await waitFor(`${mark} jobs`, PROGRESS_MS_MAX, () => (done >= mark ? true : undefined));
      await endProcess(ledger, 'SIGKILL');
      ledger = await processes.startReady();
    }
    await Promise.all(lanes);
    await waitFor('all jobs to be settled', SETTLED_MS_MAX, async () => (sumsOf(await world.credits(organizationId)).held === 0 ? true : undefined));
    const charged = JOBS / 2;
    expect(sumsOf(await world.credits(organizationId))).to.deep.equal({ granted: JOBS * 2, balance: JOBS * 2 - charged, held: 0, charged });
    expect(await world.credits(organizationId)).to.have.length(1 + JOBS * 2);
  });
});

/** Every second job finishes and costs 1, the others fail. */
function endOf(index: number): DomainEvent {
  return index % 2 === 0 ? finishedAfterMinutes(1) : failed({ attempt: 1 });
}
