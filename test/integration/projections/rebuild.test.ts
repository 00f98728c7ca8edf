import { expect } from 'chai';
import { compareReadModels } from '../../../projections/compare.ts';
import { watchPositions } from '../../../projections/position-watch.ts';
import { rebuild } from '../../../projections/rebuild.ts';
import { startProjections } from '../../../projections/runner.ts';
import { DomainError } from '../../../shared/errors/errors.ts';
import { granted, newCredits } from '../../support/events.ts';
import { appendAll, appendHistories, newJob } from '../../support/log-filler.ts';
import { created } from '../../support/job-events.ts';
import { silent, startReadModels, type TestReadModels } from '../../support/read-models.ts';

const quiet = (): void => undefined;

describe('rebuilding and comparing read models', () => {
  let models: TestReadModels;
  let projections: { stop: () => Promise<void> };
  beforeEach(async () => {
    models = await startReadModels();
    projections = await startProjections(models.nc, { databaseUrl: models.databaseUrl, logger: silent });
  });
  afterEach(async () => {
    await projections.stop();
    await models.stop();
  });

  const readAll = async (view: string): Promise<unknown[]> => (await models.pool.query(`select * from ${view} order by 1`)).rows;
  const readCounts = async (): Promise<unknown[]> => (await models.pool.query('select * from job_counts order by organization_id, key_mode, api_key_id, status')).rows;
  const readEverything = async (): Promise<unknown[]> => [await readAll('jobs'), await readAll('credits'), await readCounts(), await readShape()];
  const readShape = async (): Promise<unknown[]> => [
    (await models.pool.query("select indexname, indexdef from pg_indexes where schemaname = 'public' order by 1")).rows,
    (await models.pool.query("select conrelid::regclass::text as of, conname, pg_get_constraintdef(oid) as def from pg_constraint where connamespace = 'public'::regnamespace order by 1, 2")).rows,
    (await models.pool.query("select table_name, column_name, data_type, is_nullable, column_default from information_schema.columns where table_schema = 'public' order by 1, ordinal_position")).rows,
    (await models.pool.query("select nspname from pg_namespace where nspname like 'rebuild%'")).rows,
  ];

  it('gives the same rows, indexes and constraints as the live tables have', async () => {
    const events = await appendHistories(models.store, 3);
    const grants = await appendAll(models.store, newCredits(), [granted(7), { type: 'credits.held', data: { job_id: newJob().id, amount: 2 } }]);
    await models.reach('jobs', events.at(-1)?.position ?? 0);
    await models.reach('credits', grants.at(-1)?.position ?? 0);
    const before = await readEverything();
    await rebuild(models.nc, models.databaseUrl, 'jobs', quiet);
    await rebuild(models.nc, models.databaseUrl, 'credits', quiet);
    expect(await readEverything()).to.deep.equal(before);
  });

  it('takes in what happens meanwhile, and the projection goes on after it', async () => {
    await appendHistories(models.store, 3);
    const [, events] = await Promise.all([rebuild(models.nc, models.databaseUrl, 'jobs', quiet), appendHistories(models.store, 10)]);
    const last = (await appendAll(models.store, newJob(), [created()])).at(-1) ?? events.at(-1);
    await models.reach('jobs', last?.position ?? 0);
    const [jobs] = await compareReadModels(models.nc, models.pool, quiet);
    expect(jobs?.differing).to.deep.equal([]);
    expect(jobs?.position).to.equal(last?.position);
  });

  it('refuses a second rebuild of the same read model at the same time', async () => {
    await appendHistories(models.store, 5);
    const results = await Promise.allSettled([1, 2].map(() => rebuild(models.nc, models.databaseUrl, 'jobs', quiet)));
    const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
    expect(refused).to.have.length(1);
    expect(refused[0]).to.be.instanceOf(DomainError).with.property('code', 'already_running');
  });

  it('finds every row that was changed, lost or invented behind the back of the log, and mends it', async () => {
    const events = await appendHistories(models.store, 2);
    await models.reach('jobs', events.at(-1)?.position ?? 0);
    const ids = (await models.pool.query<{ job_id: string }>('select job_id from jobs order by job_id')).rows.map((row) => row.job_id);
    const [changed, lost, invented] = [ids[0] ?? '', ids[3] ?? '', newJob().id];
    await models.pool.query('update jobs_v1 set version = version + 100 where job_id = $1', [changed]);
    await models.pool.query('insert into jobs_v1 select $1, organization_id, key_mode, api_key_id, tag_hmac, created_at, created_position, status, turns_expired_at, state, version, last_position, last_hash from jobs_v1 where job_id = $2', [invented, lost]);
    await models.pool.query('delete from jobs_v1 where job_id = $1', [lost]);
    const [jobs, credits] = await compareReadModels(models.nc, models.pool, quiet);
    expect(jobs?.differing).to.deep.equal([changed, lost, invented].sort());
    expect(jobs?.rows).to.equal(ids.length);
    expect(jobs?.sha256).to.not.equal(jobs?.sha256Replayed);
    expect(credits?.differing).to.deep.equal([]);
    await rebuild(models.nc, models.databaseUrl, 'jobs', quiet);
    expect((await compareReadModels(models.nc, models.pool, quiet))[0]?.differing).to.deep.equal([]);
  });

  it('finds a total that was changed behind the back of the log, and mends it', async () => {
    const events = await appendHistories(models.store, 2);
    await models.reach('jobs', events.at(-1)?.position ?? 0);
    const real = await readCounts();
    await models.pool.query("update jobs_v1_counts set jobs = jobs + 1 where status = 'finished'");
    await models.pool.query("delete from jobs_v1_counts where status = 'cancelled'");
    const [jobs] = await compareReadModels(models.nc, models.pool, quiet);
    expect(jobs?.differing.map((key) => key.split(' ').at(-1))).to.deep.equal(['cancelled', 'finished']);
    await rebuild(models.nc, models.databaseUrl, 'jobs', quiet);
    expect(await readCounts()).to.deep.equal(real);
  });

  it('lets whoever wrote wait until the read model has it', async () => {
    const watch = watchPositions(models.nc, models.pool);
    try {
      const waiting = watch.waitForPosition('jobs', 2, 5_000);
      await appendAll(models.store, newJob(), [created(), { type: 'job.cancelled', data: {} }]);
      expect(await waiting).to.equal(true);
      expect(await watch.waitForPosition('jobs', 1, 0)).to.equal(true);
      expect(await watch.waitForPosition('jobs', 3, 100)).to.equal(false);
    } finally {
      watch.stop();
    }
  });
});
