import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import { startProjections } from '../../../projections/runner.ts';
import { findProjectRoot } from '../../../shared/tools/project-root.ts';
import { appendHistories } from '../../support/log-filler.ts';
import { silent, startReadModels, type TestReadModels } from '../../support/read-models.ts';

/** Each call starts a process that compiles its sources; a busy machine takes seconds for one. */
const CALLS_MS_MAX = 120_000;

type Finished = { readonly code: number; readonly out: string; readonly problems: string };

describe('the command projections', () => {
  let models: TestReadModels;
  let position: number;
  // The keys in the log belong to one master key, so every call has the same.
  const masterKey = randomBytes(32).toString('base64');
  before(async () => {
    models = await startReadModels();
    const projections = await startProjections(models.nc, { databaseUrl: models.databaseUrl, logger: silent });
    position = (await appendHistories(models.store)).at(-1)?.position ?? 0;
    await models.reach('jobs', position);
    await projections.stop();
  });
  after(() => models.stop());

  const run = (...args: readonly string[]): Promise<Finished> => runOn(models.databaseUrl, ...args);
  const runOn = (databaseUrl: string, ...args: readonly string[]): Promise<Finished> => {
    const env = { PATH: process.env['PATH'], NATS_URL: models.nats.url, DATABASE_URL: databaseUrl, MASTER_KEY: masterKey };
    return new Promise((resolve) => {
      const child = execFile(process.execPath, ['--import=tsx', join(findProjectRoot(), 'services/cli/projections.ts'), ...args], { env }, (_error, out, problems) =>
        resolve({ code: child.exitCode ?? -1, out, problems }),
      );
    });
  };

  it('shows how far each read model is', async () => {
    const { code, out } = await run('status', '--json');
    expect(code).to.equal(0);
    expect(JSON.parse(out)).to.deep.equal({
      read_models: [
        { name: 'accounts', position: 0, last_position: 0, lag: 0, halted: null },
        { name: 'credits', position: 0, last_position: 0, lag: 0, halted: null },
        { name: 'deliveries', position: 0, last_position: 0, lag: 0, halted: null },
        { name: 'jobs', position, last_position: position, lag: 0, halted: null },
      ],
    });
  });

  it('makes the tables of an empty database, as often as it is asked to', async () => {
    await models.pool.query('create database empty_one');
    const databaseUrl = Object.assign(new URL(models.databaseUrl), { pathname: '/empty_one' }).href;
    for (let time = 1; time <= 2; time += 1) {
      const { code, out, problems } = await runOn(databaseUrl, 'migrate');
      expect(code, problems).to.equal(0);
      expect(JSON.parse(out)).to.deep.equal({ migrated: true });
    }
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    try {
      expect((await client.query('select count(*)::int as jobs from jobs')).rows).to.deep.equal([{ jobs: 0 }]);
    } finally {
      await client.end();
    }
  }).timeout(CALLS_MS_MAX);

  it('compares, says which rows differ with exit code 1, and mends them by a rebuild', async () => {
    expect(await run('compare')).to.include({ code: 0 });
    const { rows } = await models.pool.query<{ job_id: string }>("update jobs_v1 set version = 9 where job_id = (select min(job_id::text)::uuid from jobs_v1) returning job_id");
    const different = await run('compare', '--json');
    expect(different.code).to.equal(1);
    expect(different.out).to.contain(`"differing":["${rows[0]?.job_id}"]`);
    const rebuilt = await run('rebuild', 'jobs');
    expect(rebuilt.code, rebuilt.problems).to.equal(0);
    expect(JSON.parse(rebuilt.out)).to.include({ name: 'jobs', position });
    expect(await run('compare')).to.include({ code: 0 });
  }).timeout(CALLS_MS_MAX);

  it('explains itself, and refuses what it does not know with exit code 2', async () => {
    expect((await run('--help')).out).to.contain('rebuild NAME');
    expect(await run('rebuild', 'cats')).to.deep.equal({ code: 2, out: '', problems: 'projections: NAME must be one of jobs, credits, deliveries, accounts\n' });
  });
});
