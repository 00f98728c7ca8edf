import { expect } from 'chai';
import { compareReadModels } from '../../../projections/compare.ts';
import { PROJECTION_NAMES } from '../../../projections/projection.ts';
import { startProjections } from '../../../projections/runner.ts';
import { waitFor } from '../../../services/standalone/processes.ts';
import { connectNats } from '../../../shared/nats/connect.ts';
import { appendAll, appendHistories, newJob } from '../../support/log-filler.ts';
import { created } from '../../support/job-events.ts';
import { startProjectionsProcess } from '../../support/projections-process.ts';
import { silent, startReadModels, type TestReadModels } from '../../support/read-models.ts';

/** Taking over takes one question of the waiting process, asked twice a second; the rest is for a busy machine. */
const TAKE_OVER_MS_MAX = 5_000;

describe('projections that are interrupted', () => {
  let models: TestReadModels;
  beforeEach(async () => {
    models = await startReadModels();
  });
  afterEach(() => models.stop());

  const askPostgres = async (condition: string): Promise<true | undefined> =>
    ((await models.pool.query(`select 1 from pg_stat_activity where application_name = 'projection jobs' and ${condition}`)).rowCount ?? 0) > 0 ? true : undefined;
  const expectNoDifference = async (): Promise<void> => {
    const comparisons = await compareReadModels(models.nc, models.pool, () => undefined);
    expect(comparisons.map(({ name, differing, sha256, sha256Replayed }) => [name, differing, sha256 === sha256Replayed])).to.deep.equal(PROJECTION_NAMES.map((name) => [name, [], true]));
  };

  it('lose and repeat nothing when the process is killed in the middle of a batch', async () => {
    const events = await appendHistories(models.store, 5);
    const blocker = await models.pool.connect();
    await blocker.query('begin; lock table jobs_v1 in share mode');
    const first = await startProjectionsProcess(models.nats.url, models.databaseUrl);
    await waitFor('a batch half applied', TAKE_OVER_MS_MAX, () => askPostgres("wait_event_type = 'Lock'"));
    await first.kill();
    await blocker.query('rollback');
    blocker.release();
    const second = await startProjectionsProcess(models.nats.url, models.databaseUrl);
    await models.reach('jobs', events.at(-1)?.position ?? 0);
    expect(await second.stop()).to.equal(0);
    await expectNoDifference();
  });

  it('go on when Postgres ends their connections again and again', async () => {
    const projections = await startProjections(models.nc, { databaseUrl: models.databaseUrl, logger: silent });
    try {
      const endings = setInterval(() => void models.pool.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'projection %'"), 150);
      const events = await appendHistories(models.store, 20).finally(() => clearInterval(endings));
      await models.reach('jobs', events.at(-1)?.position ?? 0);
      await expectNoDifference();
    } finally {
      await projections.stop();
    }
  });

  it('are taken over within seconds by a second process, which waits until then', async () => {
    const first = await startProjectionsProcess(models.nats.url, models.databaseUrl);
    await appendAll(models.store, newJob(), [created()]);
    await models.reach('jobs', 1);
    const nc = await connectNats({ url: models.nats.url, name: 'second', logger: silent });
    const second = await startProjections(nc, { databaseUrl: models.databaseUrl, logger: silent });
    try {
      await waitFor('two processes', TAKE_OVER_MS_MAX, async () => ((await models.pool.query("select 1 from pg_stat_activity where application_name = 'projection jobs'")).rowCount === 2 ? true : undefined));
      const { rows } = await models.pool.query("select count(*)::int as n from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())");
      expect(rows, 'one lease for each read model').to.deep.equal([{ n: PROJECTION_NAMES.length }]);
      await first.kill();
      const killedAt = performance.now();
      await appendAll(models.store, newJob(), [created()]);
      await models.reach('jobs', 2);
      expect(performance.now() - killedAt).to.be.below(TAKE_OVER_MS_MAX);
    } finally {
      await second.stop();
      await nc.close();
      await first.kill();
    }
  });

  it('come back when the log was away', async () => {
    const projections = await startProjections(models.nc, { databaseUrl: models.databaseUrl, logger: silent });
    try {
      await appendAll(models.store, newJob(), [created()]);
      await models.reach('jobs', 1);
      await models.nats.restart();
      const [event] = await appendAll(models.store, newJob(), [created()]);
      await models.reach('jobs', event?.position ?? 0);
    } finally {
      await projections.stop();
    }
  });
});
