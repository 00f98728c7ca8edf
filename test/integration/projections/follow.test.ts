import { expect } from 'chai';
import { readBalance } from '../../../projections/credits/queries.ts';
import { startProjections } from '../../../projections/runner.ts';
import { granted, newCredits } from '../../support/events.ts';
import { appendAll, appendHistories, foldJobs } from '../../support/log-filler.ts';
import { silent, startReadModels, type TestReadModels } from '../../support/read-models.ts';

describe('the projections', () => {
  let models: TestReadModels;
  beforeEach(async () => {
    models = await startReadModels();
  });
  afterEach(() => models.stop());

  it('fold every job, whatever the order of the events of different jobs, and leave no row of a deleted one', async () => {
    const projections = await startProjections(models.nc, { databaseUrl: models.databaseUrl, logger: silent });
    try {
      const events = await appendHistories(models.store, 3);
      await models.reach('jobs', events.at(-1)?.position ?? 0);
      const { rows } = await models.pool.query<{ job_id: string; state: unknown }>('select job_id, state from jobs');
      expect(new Map(rows.map((row) => [row.job_id, row.state]))).to.deep.equal(foldJobs(events));
    } finally {
      await projections.stop();
    }
  });

  it('show what an organization can spend: granted less held less charged', async () => {
    const projections = await startProjections(models.nc, { databaseUrl: models.databaseUrl, logger: silent });
    const [credits, job] = [newCredits(), newCredits().id];
    try {
      const events = await appendAll(models.store, credits, [
        granted(10),
        { type: 'credits.held', data: { job_id: job, amount: 4 } },
        { type: 'credits.charged', data: { job_id: job, amount: 1, held: 4, billable_ms: 10, speed_factor: 1, weight: 1 } },
        { type: 'credits.held', data: { job_id: newCredits().id, amount: 3 } },
      ]);
      await models.reach('credits', events.at(-1)?.position ?? 0);
      expect(await readBalance(models.pool, credits.id)).to.equal(6);
      expect(await readBalance(models.pool, newCredits().id)).to.equal(0);
    } finally {
      await projections.stop();
    }
  });
});
