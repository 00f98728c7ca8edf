import { jetstreamManager } from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import { expect } from 'chai';
import { compareReadModels, type Comparison } from '../../../projections/compare.ts';
import { readLastSuccesses } from '../../../projections/deliveries/queries.ts';
import { readModelHealth } from '../../../projections/health.ts';
import { rebuild } from '../../../projections/rebuild.ts';
import { startProjections } from '../../../projections/runner.ts';
import { waitFor } from '../../../services/standalone/processes.ts';
import type { AggregateRef } from '../../../shared/events/envelope.ts';
import type { DomainEvent } from '../../../shared/events/registry.ts';
import { appendAt, appendDeliveries, attemptStarted, delivered, newDelivery, queued, WEBHOOK_ID } from '../../support/delivery-events.ts';
import { ORGANIZATION_ID } from '../../support/job-events.ts';
import { silent, startReadModels, type TestReadModels } from '../../support/read-models.ts';

const OTHER_WEBHOOK_ID = '0190a000-0000-7000-8000-0000000000e2';
const KEPT_MS = 30 * 24 * 3_600_000;
/** The server looks for messages that are too old about as often as this. */
const AGED_MS_MAX = 20_000;
const quiet = (): void => undefined;

describe('a read model whose log forgets by age', function () {
  this.timeout(120_000);
  let models: TestReadModels;
  let projections: { stop: () => Promise<void> };
  const start = async (): Promise<void> => void (projections = await startProjections(models.nc, { databaseUrl: models.databaseUrl, logger: silent, logCheckMs: 200 }));
  beforeEach(async () => {
    models = await startReadModels();
    await start();
  });
  afterEach(async () => {
    await projections.stop();
    await models.stop();
  });

  /** Lets everything that lies in the stream age out. */
  async function ageOut(): Promise<void> {
    const manager = await jetstreamManager(models.nc);
    const { duplicate_window } = (await manager.streams.info('DELIVERIES')).config;
    await manager.streams.update('DELIVERIES', { max_age: nanos(200), duplicate_window: nanos(200) });
    await waitFor('the stream to forget', AGED_MS_MAX, async () => ((await manager.streams.info('DELIVERIES')).state.messages === 0 ? true : undefined));
    await manager.streams.update('DELIVERIES', { max_age: nanos(KEPT_MS), duplicate_window });
  }
  const add = async (webhook_id: string = WEBHOOK_ID) => (await appendAt(models.store, newDelivery(), [queued({ webhook_id }), attemptStarted(), delivered()])).at(-1)?.position ?? 0;
  const reach = (position: number) => models.reach('deliveries', position);
  const readAll = async (): Promise<unknown> => Promise.all(['deliveries', 'webhook_successes', 'deleted_webhooks'].map(async (view) => (await models.pool.query(`select * from ${view} order by 1`)).rows));
  const compared = async (): Promise<Comparison | undefined> => (await compareReadModels(models.nc, models.pool, quiet)).find(({ name }) => name === 'deliveries');
  const health = async () => (await readModelHealth(models.nc, models.pool)).find(({ name }) => name === 'deliveries');
  const deleteWebhook = async (): Promise<void> => {
    const account: AggregateRef = { kind: 'account', id: ORGANIZATION_ID };
    const events: readonly DomainEvent[] = [
      { type: 'account.created', data: { plan: 'active', name: 'v1.a.b' } },
      { type: 'account.webhook_created', data: { webhook_id: WEBHOOK_ID, key_mode: 'live', events: ['job.finished'], details: 'v1.a.b', secret: 'v1.a.b', jobs_position: 0 } },
      { type: 'account.webhook_deleted', data: { webhook_id: WEBHOOK_ID } },
    ];
    await models.reach('accounts', (await appendAt(models.store, account, events)).at(-1)?.position ?? 0);
  };

  it('is the same after a rebuild, and as a replay, also with endpoints that were deleted (§4.6)', async () => {
    await appendDeliveries(models.store, 3);
    await reach(await add(OTHER_WEBHOOK_ID));
    const before = await readAll();
    expect((await compared())?.differing).to.deep.equal([]);
    await rebuild(models.nc, models.databaseUrl, 'deliveries', quiet);
    expect(await readAll()).to.deep.equal(before);
    await deleteWebhook();
    const after = await readAll();
    expect((await models.pool.query('select webhook_id from deliveries')).rows).to.deep.equal([{ webhook_id: OTHER_WEBHOOK_ID }]);
    expect((await compared())?.differing).to.deep.equal([]);
    await rebuild(models.nc, models.databaseUrl, 'deliveries', quiet);
    await rebuild(models.nc, models.databaseUrl, 'accounts', quiet);
    expect(await readAll()).to.deep.equal(after);
  });

  it('finds rows and times that were changed behind the back of the log', async () => {
    await appendDeliveries(models.store);
    await reach(await add(OTHER_WEBHOOK_ID));
    const { rows } = await models.pool.query<{ delivery_id: string }>("update deliveries_v1 set status = 'failed' where status = 'stopped' returning delivery_id");
    await models.pool.query("update deliveries_v1_successes set succeeded_at = succeeded_at + interval '1 day' where webhook_id = $1", [OTHER_WEBHOOK_ID]);
    expect((await compared())?.differing).to.deep.equal([...rows.map((row) => row.delivery_id), OTHER_WEBHOOK_ID]);
  });

  it('stands where it stood when everything it has read has aged out, and goes on with what comes (§6 delivery 4)', async () => {
    await reach(await add());
    const before = await readAll();
    await ageOut();
    expect(await health()).to.include({ lag: 0, halted: undefined });
    expect((await compared())?.differing).to.deep.equal([]);
    await reach(await add(OTHER_WEBHOOK_ID));
    expect((await compared())?.differing).to.deep.equal([]);
    expect(await health()).to.include({ lag: 0, halted: undefined });
    await rebuild(models.nc, models.databaseUrl, 'deliveries', quiet);
    expect((await readLastSuccesses(models.pool, [WEBHOOK_ID, OTHER_WEBHOOK_ID])).size).to.equal(2);
    expect((await models.pool.query('select 1 from deliveries')).rowCount).to.equal(2);
    expect(before).to.not.deep.equal(await readAll());
  });

  it('goes on after events that aged out before it has read them', async () => {
    await reach(await add());
    await projections.stop();
    await add();
    await ageOut();
    const last = await add();
    await start();
    await reach(last);
    expect(await health()).to.include({ lag: 0, halted: undefined });
    expect((await models.pool.query('select 1 from deliveries')).rowCount).to.equal(2);
  });

  it('can be rebuilt when nothing is left to rebuild it from', async () => {
    await reach(await add());
    await ageOut();
    const before = await readAll();
    await rebuild(models.nc, models.databaseUrl, 'deliveries', quiet);
    expect(await readAll()).to.deep.equal(before);
    expect(await health()).to.include({ lag: 0, halted: undefined });
    await reach(await add());
  });
});
