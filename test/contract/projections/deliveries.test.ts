import { expect } from 'chai';
import type { Pool, PoolClient } from 'pg';
import { accountsProjection } from '../../../projections/accounts/projection.ts';
import { DELIVERIES_KEPT_MS } from '../../../shared/domain/delivery.ts';
import { deliveriesProjection } from '../../../projections/deliveries/projection.ts';
import { readLastSuccesses } from '../../../projections/deliveries/queries.ts';
import { Defect } from '../../../shared/errors/errors.ts';
import type { AggregateRef, StoredEvent } from '../../../shared/events/envelope.ts';
import type { DomainEvent } from '../../../shared/events/registry.ts';
import { createPool } from '../../../shared/postgres/pool.ts';
import { inTransaction } from '../../../shared/postgres/transaction.ts';
import { createMemoryStore } from '../../../shared/store/memory.ts';
import { appendAt, appendDeliveries, attemptFailed, attemptStarted, delivered, newDelivery, QUEUED_MS, queued, WEBHOOK_ID } from '../../support/delivery-events.ts';
import { expectFailure } from '../../support/expect-failure.ts';
import { ORGANIZATION_ID } from '../../support/job-events.ts';
import { freshReadModels, silent } from '../../support/read-models.ts';

const ACCOUNT: AggregateRef = { kind: 'account', id: ORGANIZATION_ID };
const OTHER_WEBHOOK_ID = '0190a000-0000-7000-8000-0000000000e2';
const ACCOUNT_EVENTS: readonly DomainEvent[] = [
  { type: 'account.created', data: { plan: 'active', name: 'v1.a.b' } },
  ...[WEBHOOK_ID, OTHER_WEBHOOK_ID].map((webhook_id): DomainEvent => ({ type: 'account.webhook_created', data: { webhook_id, key_mode: 'live', events: ['job.finished'], details: 'v1.a.b', secret: 'v1.a.b', jobs_position: 0 } })),
  { type: 'account.webhook_deleted', data: { webhook_id: WEBHOOK_ID } },
];
const TABLES = 'deliveries_v1, deliveries_v1_successes, accounts_v1, accounts_v1_deleted_webhooks';

describe('applying deliveries to their history', () => {
  let database: Awaited<ReturnType<typeof freshReadModels>>;
  let pool: Pool;
  let client: PoolClient;
  before(async () => {
    database = await freshReadModels();
    pool = createPool(database.url, silent);
    client = await pool.connect();
  });
  after(async () => {
    client.release();
    await pool.end();
    await database.drop();
  });

  /** Each batch is of one stream. */
  const apply = async (...batches: readonly (readonly StoredEvent[])[]): Promise<void> => {
    for (const batch of batches) {
      const projection = batch[0]?.aggregate.kind === 'account' ? accountsProjection : deliveriesProjection;
      await inTransaction(client, () => projection.apply(client, projection.table, batch));
    }
  };
  const tablesAfter = async (...batches: readonly (readonly StoredEvent[])[]): Promise<unknown> => {
    await client.query(`truncate ${TABLES}`);
    await apply(...batches);
    return Promise.all(TABLES.split(', ').map(async (table) => (await pool.query(`select * from ${table} order by 1`)).rows));
  };
  const deliveryIds = async (): Promise<string[]> => (await pool.query<{ delivery_id: string }>('select delivery_id from deliveries order by queued_position')).rows.map((row) => row.delivery_id);
  const columns = async (id: string): Promise<unknown> => (await pool.query('select status, attempts, status_code, failure, duration_ms, last_attempt_at, next_attempt_at, job_id is null as test from deliveries where delivery_id = $1', [id])).rows[0];

  it('gives the same rows when every event comes twice, when a batch comes twice, and whatever the size of the batches', async () => {
    const events = await appendDeliveries(createMemoryStore(), 2);
    const once = await tablesAfter(events);
    expect(await tablesAfter(events.flatMap((event) => [event, event]))).to.deep.equal(once);
    expect(await tablesAfter(events, events)).to.deep.equal(once);
    expect(await tablesAfter(...events.map((event) => [event]))).to.deep.equal(once);
    expect(await tablesAfter(...events.map((event) => [event, event]))).to.deep.equal(once);
    const account = await appendAt(createMemoryStore(), ACCOUNT, ACCOUNT_EVENTS);
    const deletion = await tablesAfter(account);
    expect(await tablesAfter(account.flatMap((event) => [event, event]), account)).to.deep.equal(deletion);
  });

  it('keeps of each delivery how it stands, and what came of its last attempt (§6 delivery 4)', async () => {
    const store = createMemoryStore();
    const [first, second] = [newDelivery(), newDelivery()];
    const retrying = [queued(), attemptStarted(), attemptFailed(1, QUEUED_MS + 60_000)];
    await tablesAfter(await appendAt(store, first, retrying), await appendAt(store, second, [queued(), attemptStarted()]));
    expect(await columns(first.id)).to.deep.equal({
      status: 'retrying', attempts: 1, status_code: 503, failure: 'http_status', duration_ms: '34', last_attempt_at: new Date(QUEUED_MS + 10), next_attempt_at: new Date(QUEUED_MS + 60_000), test: false,
    });
    expect(await columns(second.id)).to.deep.equal({ status: 'queued', attempts: 1, status_code: null, failure: null, duration_ms: null, last_attempt_at: new Date(QUEUED_MS + 10), next_attempt_at: null, test: false });
    await apply(await appendAt(store, first, [attemptStarted(2, QUEUED_MS + 60_005), delivered(2)], QUEUED_MS + 60_005));
    expect(await columns(first.id)).to.deep.equal({
      status: 'delivered', attempts: 2, status_code: 204, failure: null, duration_ms: '12', last_attempt_at: new Date(QUEUED_MS + 60_005), next_attempt_at: null, test: false,
    });
    expect(await readLastSuccesses(pool, [WEBHOOK_ID, OTHER_WEBHOOK_ID])).to.deep.equal(new Map([[WEBHOOK_ID, new Date(QUEUED_MS + 60_006).toISOString()]]));
  });

  it('holds nothing that a client typed, not even sealed', async () => {
    await tablesAfter(await appendDeliveries(createMemoryStore()));
    const { rows } = await pool.query("select 1 from deliveries where state::text like '%typed%' or state::text like '%v1.%'");
    expect(rows).to.be.empty;
  });

  it('refuses an event whose predecessor is missing while the delivery is there, and a forged one', async () => {
    const [first, second, third] = await appendAt(createMemoryStore(), newDelivery(), [queued(), attemptStarted(), delivered()]);
    if (!first || !second || !third) throw new Error('three events were appended');
    await tablesAfter([first]);
    await expectFailure(apply([third]), Defect);
    const forged = { ...second, envelope: { ...second.envelope, prevhash: '0'.repeat(64) } };
    await expectFailure(apply([forged]), Defect);
  });

  it('passes over what is left of a delivery whose beginning has aged out', async () => {
    const [, second, third] = await appendAt(createMemoryStore(), newDelivery(), [queued(), attemptStarted(), delivered()]);
    if (!second || !third) throw new Error('three events were appended');
    await tablesAfter([second], [third]);
    expect(await deliveryIds()).to.be.empty;
  });

  it('forgets a delivery 30 days after it was queued, by the time of the events, and keeps the last success (§6 delivery 4)', async () => {
    const store = createMemoryStore();
    const [old, young, now] = [newDelivery(), newDelivery(), newDelivery()];
    await tablesAfter([
      ...(await appendAt(store, old, [queued(), attemptStarted(), delivered()])),
      ...(await appendAt(store, young, [queued()], QUEUED_MS + 1)),
    ]);
    const last = await appendAt(store, now, [queued({ webhook_id: OTHER_WEBHOOK_ID })], QUEUED_MS + DELIVERIES_KEPT_MS);
    await apply(last);
    expect(await deliveryIds()).to.deep.equal([young.id, now.id]);
    expect([...(await readLastSuccesses(pool, [WEBHOOK_ID])).keys()]).to.deep.equal([WEBHOOK_ID]);
  });

  it('forgets what a quiet month has left in pieces, so that no batch takes long', async () => {
    await tablesAfter();
    await client.query(
      `insert into deliveries_v1 select gen_random_uuid(), $1, $2, gen_random_uuid(), 'job.finished', gen_random_uuid(), null, 'delivered', 1, 200, null, 5, $3, n, null, null, '{}', 1, n, ''
       from generate_series(1, 2500) as n`,
      [WEBHOOK_ID, ORGANIZATION_ID, new Date(QUEUED_MS)],
    );
    const store = createMemoryStore();
    const left: number[] = [];
    for (let round = 0; round < 2; round += 1) {
      await apply(await appendAt(store, newDelivery(), [queued()], QUEUED_MS + DELIVERIES_KEPT_MS));
      left.push((await deliveryIds()).length);
    }
    expect(left).to.deep.equal([501, 2]);
  });

  it('is not emptied by one clock that is months ahead', async () => {
    const store = createMemoryStore();
    const nowMs = Date.now();
    await tablesAfter(await appendAt(store, newDelivery(), [queued()], nowMs), await appendAt(store, newDelivery(), [queued()], nowMs + 3 * DELIVERIES_KEPT_MS));
    expect(await deliveryIds()).to.have.length(2);
  });

  it('has nothing of an endpoint that was deleted, whichever stream is read first (§4.6)', async () => {
    const store = createMemoryStore();
    const deliveries = [
      ...(await appendDeliveries(store)),
      ...(await appendAt(store, newDelivery(), [queued({ webhook_id: OTHER_WEBHOOK_ID }), attemptStarted(), delivered()])),
    ];
    const account = await appendAt(store, ACCOUNT, ACCOUNT_EVENTS);
    const expected = await tablesAfter(deliveries, account);
    expect(await deliveryIds()).to.deep.equal([deliveries.at(-1)?.aggregate.id]);
    expect([...(await readLastSuccesses(pool, [WEBHOOK_ID, OTHER_WEBHOOK_ID])).keys()]).to.deep.equal([OTHER_WEBHOOK_ID]);
    expect(await tablesAfter(account, deliveries)).to.deep.equal(expected);
    for (let cut = 1; cut < deliveries.length; cut += 1) expect(await tablesAfter(deliveries.slice(0, cut), account, deliveries.slice(cut)), `after ${cut}`).to.deep.equal(expected);
  });

  it('loses a deletion neither to a batch that is being written nor to one that comes after it (§4.6)', async () => {
    const store = createMemoryStore();
    const [before, after] = [await appendAt(store, newDelivery(), [queued()]), await appendAt(store, newDelivery(), [queued()])];
    const account = await appendAt(store, ACCOUNT, ACCOUNT_EVENTS);
    await client.query(`truncate ${TABLES}`);
    const other = await pool.connect();
    try {
      await client.query('begin');
      await deliveriesProjection.apply(client, deliveriesProjection.table, before);
      await other.query('begin');
      const deleting = accountsProjection.apply(other, accountsProjection.table, account).then(() => other.query('commit'));
      await client.query('commit');
      await deleting;
      await apply(after);
    } finally {
      other.release();
    }
    expect(await deliveryIds()).to.be.empty;
  });
});
