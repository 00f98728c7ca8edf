import { randomBytes, randomUUID } from 'node:crypto';
import { jetstream } from '@nats-io/jetstream';
import { expect } from 'chai';
import { startProjections } from '../../../projections/runner.ts';
import { waitFor } from '../../../services/standalone/processes.ts';
import { AccountsCopy } from '../../../shared/accounts/accounts-copy.ts';
import { encode, type AggregateRef } from '../../../shared/events/envelope.ts';
import type { DomainEvent } from '../../../shared/events/registry.ts';
import { eventSubject } from '../../../shared/store/subjects.ts';
import { created } from '../../support/job-events.ts';
import { granted, newCredits, originOf } from '../../support/events.ts';
import { appendAll, newJob } from '../../support/log-filler.ts';
import { silent, startReadModels, type TestReadModels } from '../../support/read-models.ts';
import { runCommand } from '../../support/run-program.ts';

const HALT_MS_MAX = 15_000;
const FORGED_HASH = '0'.repeat(64);

describe('a log that somebody wrote into past the services', function () {
  this.timeout(90_000);
  let models: TestReadModels;
  beforeEach(async () => (models = await startReadModels()));
  afterEach(() => models.stop());

  async function forge(aggregate: AggregateRef, version: number, event: DomainEvent): Promise<void> {
    await jetstream(models.nc).publish(eventSubject(aggregate, version, event.type), encode(aggregate, version, event, originOf(aggregate), FORGED_HASH));
  }

  async function verify(): Promise<{ readonly code: number | null; readonly stdout: string }> {
    return runCommand('audit', ['verify'], { NATS_URL: models.nats.url, DATABASE_URL: models.databaseUrl, MASTER_KEY: randomBytes(32).toString('base64') });
  }

  it('opens no door to a forged API key: the copy of the accounts halts before it', async () => {
    const account: AggregateRef = { kind: 'account', id: randomUUID() };
    await appendAll(models.store, account, [{ type: 'account.created', data: { name: 'v1.a.b', plan: 'free' } }]);
    const secretHash = 'a'.repeat(64);
    await forge(account, 2, { type: 'account.api_key_created', data: { api_key_id: randomUUID(), key_mode: 'live', scopes: ['job.read'], secret_sha256: secretHash } });
    const accounts = await AccountsCopy.open(models.nc, silent);
    try {
      await waitFor('the copy to halt', HALT_MS_MAX, async () => accounts.reader.halted());
      expect(accounts.findKey(secretHash, new Date().toISOString())).to.equal(undefined);
    } finally {
      await accounts.stop();
    }
  });

  it('is named by the audit, also where an event cannot be read at all', async () => {
    const [job, credits] = [newJob(), newCredits()];
    await appendAll(models.store, job, [created()]);
    await appendAll(models.store, credits, [granted(5)]);
    const projections = await startProjections(models.nc, { databaseUrl: models.databaseUrl, logger: silent });
    try {
      await models.reach('jobs', 1);
      await models.reach('credits', 1);
      await jetstream(models.nc).publish(`job.${job.id}.2.finished`, 'no event');
      await forge(credits, 2, granted(1_000_000));
      const { code, stdout } = await verify();
      expect(code).to.equal(1);
      expect(stdout).to.match(new RegExp(`^schema +job\\.${job.id}\\.2\\.finished: .*position 2`, 'm'));
      expect(stdout).to.match(new RegExp(`^chain +credits\\.${credits.id}: prevhash .* position 2$`, 'm'));
      expect((await models.pool.query<{ granted: string }>('select granted from credits')).rows).to.deep.equal([{ granted: '5' }]);
    } finally {
      await projections.stop();
    }
  });

  it('is reported in full although a read model cannot be folded anew from it', async () => {
    const job = newJob();
    await jetstream(models.nc).publish(`job.${job.id}.1.created`, 'no event');
    await models.pool.query("update projection_positions set position = 1, event_hash = encode(sha256('no event'), 'hex') where name = 'jobs'");
    const { code, stdout } = await verify();
    expect(code).to.equal(1);
    expect(stdout).to.include('read_model').and.to.match(new RegExp(`^schema +job\\.${job.id}`, 'm'));
  });
});
