import { expect } from 'chai';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreditsCopy } from '../../../services/ledger/credits-copy.ts';
import { waitFor } from '../../../services/standalone/processes.ts';
import { TransientError, Defect } from '../../../shared/errors/errors.ts';
import { newId } from '../../../shared/ids/ids.ts';
import { grantCredits, isLedgerReady, requestHold } from '../../../shared/ledger-client/ledger-client.ts';
import { expectFailure } from '../../support/expect-failure.ts';
import { holdRequestOf, logger, sumsOf, World, type TestLedger } from './world.ts';

/** Holds that compete for the last ten credits. */
const RIVALS = 100;
/** How long a ledger may take to be back after its server, in ms. */
const BACK_MS_MAX = 15_000;

describe('holding credits', function () {
  this.timeout(60_000);
  let world: World;
  let ledger: TestLedger;

  before(async () => {
    world = await World.start();
    ledger = await world.startLedger();
  });
  after(() => world.stop());

  it('takes the amount off the balance and tells until when to create the job', async () => {
    const organizationId = await world.organizationWith(10);
    const beforeMs = Date.now();
    const answer = await world.hold(organizationId, 4);
    expect(answer).to.include({ ok: true, balance: 6 });
    if (!answer.ok) return;
    expect(Date.parse(answer.create_before)).to.be.within(beforeMs + 60_000, Date.now() + 60_000);
    expect((await world.credits(organizationId)).at(-1)?.position).to.equal(answer.position);
    expect(sumsOf(await world.credits(organizationId))).to.deep.equal({ granted: 10, balance: 6, held: 4, charged: 0 });
  });

  it('is refused beyond the balance, with both numbers, and changes nothing', async () => {
    const organizationId = await world.organizationWith(3);
    expect(await world.hold(organizationId, 4)).to.deep.equal({ ok: false, code: 'insufficient_credits', credits_required: 4, credits_available: 3 });
    expect(await world.hold(newId(Date.now()), 1)).to.deep.equal({ ok: false, code: 'insufficient_credits', credits_required: 1, credits_available: 0 });
    expect(sumsOf(await world.credits(organizationId))).to.deep.equal({ granted: 3, balance: 3, held: 0, charged: 0 });
  });

  it('happens once for a job, however often it is asked for', async () => {
    const organizationId = await world.organizationWith(10);
    const jobId = newId(Date.now());
    const first = await world.hold(organizationId, 4, jobId);
    const again = await Promise.all(Array.from({ length: 10 }, () => world.hold(organizationId, 4, jobId)));
    for (const answer of again) expect(answer).to.deep.equal(first);
    expect(sumsOf(await world.credits(organizationId))).to.deep.equal({ granted: 10, balance: 6, held: 4, charged: 0 });
  });

  it('is not offered by a ledger whose events the log refuses', async () => {
    const apart = await World.start();
    try {
      const healthy = await apart.startLedger();
      const organizationId = await apart.organizationWith(10);
      await healthy.stop();
      await apart.startLedger({ store: { load: (aggregate) => apart.store.load(aggregate), append: () => Promise.reject(new TransientError('nats', 'NATS does not answer')) } });
      expect(await isLedgerReady(apart.nc)).to.equal(true);
      await expectFailure(apart.hold(organizationId, 1), TransientError);
      await waitFor('the ledger saying so', BACK_MS_MAX, async () => ((await isLedgerReady(apart.nc)) ? undefined : true));
    } finally {
      await apart.stop();
    }
  });

  it(`gives exactly ten of ${RIVALS} rivals the last ten credits`, async () => {
    const organizationId = await world.organizationWith(10);
    const answers = await Promise.all(Array.from({ length: RIVALS }, () => world.hold(organizationId, 1)));
    expect(answers.filter((answer) => answer.ok)).to.have.length(10);
    expect(sumsOf(await world.credits(organizationId))).to.deep.equal({ granted: 10, balance: 0, held: 10, charged: 0 });
  });

  it('gives exactly ten of them the last ten credits when two ledgers decide', async () => {
    const second = await world.startLedger();
    const organizationId = await world.organizationWith(10);
    const answers = await Promise.all(Array.from({ length: RIVALS }, () => world.hold(organizationId, 1)));
    expect(answers.filter((answer) => answer.ok)).to.have.length(10);
    expect(sumsOf(await world.credits(organizationId))).to.deep.equal({ granted: 10, balance: 0, held: 10, charged: 0 });
    await second.stop();
  });

  it('happens once when the answer is lost and another ledger is asked', async () => {
    const organizationId = await world.organizationWith(10);
    const jobId = newId(Date.now());
    await expectFailure(requestHold(world.nc, holdRequestOf(organizationId, 4, jobId), 1), TransientError);
    const second = await world.startLedger();
    await ledger.stop();
    expect(await world.hold(organizationId, 4, jobId)).to.include({ ok: true, balance: 6 });
    expect(sumsOf(await world.credits(organizationId))).to.deep.equal({ granted: 10, balance: 6, held: 4, charged: 0 });
    ledger = await world.startLedger();
    await second.stop();
  });

  it('is a transient error while no ledger runs', async () => {
    const organizationId = await world.organizationWith(10);
    await ledger.stop();
    expect(await isLedgerReady(world.nc)).to.equal(false);
    const error = await expectFailure(world.hold(organizationId, 1), TransientError);
    expect(error.dependency).to.equal('ledger');
    ledger = await world.startLedger();
    expect(await isLedgerReady(world.nc)).to.equal(true);
    expect(await world.hold(organizationId, 1)).to.include({ ok: true, balance: 9 });
  });

  it('is a defect when the request is none', async () => {
    await expectFailure(requestHold(world.nc, { ...holdRequestOf(newId(Date.now()), 1, 'x') }), Defect);
  });

  it('grants once for each command, and answers the balance after it', async () => {
    const organizationId = await world.organizationWith(10);
    const commandId = newId(Date.now());
    expect(await world.grant(organizationId, 5, commandId)).to.equal(15);
    const repeated = await Promise.all(Array.from({ length: 5 }, () => world.grant(organizationId, 5, commandId)));
    expect(repeated).to.deep.equal([15, 15, 15, 15, 15]);
    await expectFailure(grantCredits(world.nc, { organization_id: organizationId, amount: 0, command_id: commandId, correlation_id: commandId, actor: 'operator' }), Defect);
    expect(sumsOf(await world.credits(organizationId))).to.deep.equal({ granted: 15, balance: 15, held: 0, charged: 0 });
  });

  it('goes on by itself after the server was killed and came back', async () => {
    const organizationId = await world.organizationWith(10);
    const jobId = newId(Date.now());
    await world.server.kill();
    await expectFailure(world.hold(organizationId, 4, jobId), TransientError);
    await world.server.restart();
    const answer = await waitFor('a ledger', BACK_MS_MAX, () => world.hold(organizationId, 4, jobId).catch(() => undefined));
    expect(answer).to.include({ ok: true, balance: 6 });
    expect(await world.hold(organizationId, 7)).to.include({ ok: false, credits_available: 6 });
    expect(sumsOf(await world.credits(organizationId))).to.deep.equal({ granted: 10, balance: 6, held: 4, charged: 0 });
  });

  it('has a copy that can be deleted: it fills anew with the same sums', async () => {
    const organizationId = await world.organizationWith(10);
    await world.hold(organizationId, 3);
    const folder = await mkdtemp(join(tmpdir(), 'test-ledger-'));
    const rows = [];
    for (let round = 0; round < 2; round += 1) {
      const copy = await CreditsCopy.open(world.nc, logger, folder);
      await copy.catchUp(10_000);
      rows.push(copy.tables.findAccount(organizationId));
      await copy.stop();
      expect(await readdir(folder)).to.include('credits-1.sqlite');
      await rm(join(folder, 'credits-1.sqlite'));
    }
    expect(rows[0]).to.include({ granted: 10, held: 3, charged: 0, version: 2 });
    expect(rows[1]).to.deep.equal(rows[0]);
    const other = await world.startLedger({ copyFolder: folder });
    await ledger.stop();
    expect(await world.hold(organizationId, 7)).to.include({ ok: true, balance: 0 });
    ledger = await world.startLedger();
    await other.stop();
    await rm(folder, { recursive: true });
  });
});
