import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { jetstream } from '@nats-io/jetstream';
import { expect } from 'chai';
import { readModelHealth, type ReadModelHealth } from '../../../projections/health.ts';
import { rebuild } from '../../../projections/rebuild.ts';
import { startProjections } from '../../../projections/runner.ts';
import { waitFor } from '../../../services/standalone/processes.ts';
import { TransientError } from '../../../shared/errors/errors.ts';
import { granted, newCredits } from '../../support/events.ts';
import { appendAll, newJob } from '../../support/log-filler.ts';
import { created } from '../../support/job-events.ts';
import { silent, startReadModels, type TestReadModels } from '../../support/read-models.ts';

const HALT_MS_MAX = 15_000;
/** Servers are stopped and started again, and a reader takes seconds to notice. */
const RESTARTS_MS_MAX = 90_000;

describe('a read model that cannot go on', () => {
  let models: TestReadModels;
  let projections: { stop: () => Promise<void> };
  beforeEach(async () => {
    models = await startReadModels();
    projections = await startProjections(models.nc, { databaseUrl: models.databaseUrl, logger: silent, logCheckMs: 200 });
  });
  afterEach(async () => {
    await projections.stop();
    await models.stop();
  });

  const becomes = async (what: string, isSo: (jobs: ReadModelHealth) => boolean): Promise<void> =>
    void (await waitFor(what, HALT_MS_MAX, async () => {
      try {
        const jobs = (await readModelHealth(models.nc, models.pool)).find(({ name }) => name === 'jobs');
        return jobs !== undefined && isSo(jobs) ? true : undefined;
      } catch (error) {
        if (error instanceof TransientError) return undefined;
        throw error;
      }
    }));
  const storedHalt = async (): Promise<unknown> => (await models.pool.query<{ halted: unknown }>("select halted from projection_positions where name = 'jobs'")).rows[0]?.halted;

  it('halts at an event it does not understand, says so, and leaves the other read models running', async () => {
    await appendAll(models.store, newJob(), [created()]);
    await models.reach('jobs', 1);
    await jetstream(models.nc).publish(`job.${newJob().id}.1.created`, '{"type":"job.painted"}');
    await becomes('halted', ({ halted, position, lag }) => halted === 'defect' && position === 1 && lag === 1);
    const grants = await appendAll(models.store, newCredits(), [granted(5)]);
    await models.reach('credits', grants.at(-1)?.position ?? 0);
  });

  it('halts when an older log was put back, and goes on by itself when the right one is back (D96)', async () => {
    await appendAll(models.store, newJob(), [created()]);
    await models.reach('jobs', 1);
    const [store, older, newer] = ['store', 'older', 'newer'].map((name) => join(models.nats.folder, name)) as [string, string, string];
    await models.nats.kill();
    await cp(store, older, { recursive: true });
    await models.nats.restart();
    await appendAll(models.store, newJob(), [created()]);
    await models.reach('jobs', 2);
    await models.nats.kill();
    await cp(store, newer, { recursive: true });
    await replace(store, older);
    await models.nats.restart();
    await becomes('behind', ({ halted, position, lastPosition }) => halted === 'log_behind' && position === 2 && lastPosition === 1);
    await waitFor('the projection to say so', HALT_MS_MAX, async () => ((await storedHalt()) === 'log_behind' ? true : undefined));

    // Another event now takes the place of the one that was read.
    await appendAll(models.store, newJob(), [created(), { type: 'job.cancelled', data: {} }]);
    await becomes('behind still', ({ halted, position, lastPosition }) => halted === 'log_behind' && position === 2 && lastPosition === 3);

    await models.nats.kill();
    await replace(store, newer);
    await models.nats.restart();
    await becomes('in order', ({ halted }) => halted === undefined);
    const events = await appendAll(models.store, newJob(), [created()]);
    await models.reach('jobs', events.at(-1)?.position ?? 0);
  }).timeout(RESTARTS_MS_MAX);

  async function rebuildOverOlderLog(): Promise<void> {
    await appendAll(models.store, newJob(), [created()]);
    await models.reach('jobs', 1);
    const [store, older] = ['store', 'older'].map((name) => join(models.nats.folder, name)) as [string, string];
    await models.nats.kill();
    await cp(store, older, { recursive: true });
    await models.nats.restart();
    await appendAll(models.store, newJob(), [created(), { type: 'job.cancelled', data: {} }]);
    await models.reach('jobs', 3);
    await models.nats.kill();
    await replace(store, older);
    await models.nats.restart();
    await becomes('behind', ({ halted }) => halted === 'log_behind');
    await rebuild(models.nc, models.databaseUrl, 'jobs', () => undefined);
    await becomes('in order', ({ halted, position, lag }) => halted === undefined && position === 1 && lag === 0);
    await appendAll(models.store, newJob(), [created()]);
    await becomes('current', ({ position, halted }) => position === 2 && halted === undefined);
    expect((await models.pool.query('select 1 from jobs')).rowCount).to.equal(2);
  }

  it('goes on with the older log when an operator decides so by a rebuild', rebuildOverOlderLog).timeout(RESTARTS_MS_MAX);

  it('does so too when the operator was faster than its own look at the log', async () => {
    await projections.stop();
    projections = await startProjections(models.nc, { databaseUrl: models.databaseUrl, logger: silent, logCheckMs: RESTARTS_MS_MAX });
    await rebuildOverOlderLog();
  }).timeout(RESTARTS_MS_MAX);
});

async function replace(folder: string, by: string): Promise<void> {
  await rm(folder, { recursive: true });
  await cp(by, folder, { recursive: true });
}
