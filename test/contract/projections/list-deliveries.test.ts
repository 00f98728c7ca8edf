import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Pool } from 'pg';
import { deliveriesProjection } from '../../../projections/deliveries/projection.ts';
import { HISTORY_DEPTH_MAX, listDeliveries, listReplayable, listStatement, readLastSuccesses, type DeliveryListQuery, type ReplayQuery } from '../../../projections/deliveries/queries.ts';
import { DELIVERIES_KEPT_MS, DELIVERY_STATUSES } from '../../../shared/domain/delivery.ts';
import type { DeliveryEvent } from '../../../shared/events/registry.ts';
import { createPool } from '../../../shared/postgres/pool.ts';
import { inTransaction } from '../../../shared/postgres/transaction.ts';
import type { EventStore } from '../../../shared/store/event-store.ts';
import { createMemoryStore } from '../../../shared/store/memory.ts';
import { appendAt, appendDeliveries, attemptFailed, attemptStarted, delivered, newDelivery, QUEUED_MS, queued, queuedTest, stopped, WEBHOOK_ID } from '../../support/delivery-events.ts';
import { ORGANIZATION_ID } from '../../support/job-events.ts';
import { freshReadModels, silent } from '../../support/read-models.ts';

const NOW = new Date(QUEUED_MS + 3_600_000).toISOString();
const OTHER_ID = '0190a000-0000-7000-8000-0000000000ff';
const EVERYTHING: DeliveryListQuery = { organizationId: ORGANIZATION_ID, webhookId: WEBHOOK_ID, now: NOW, page: 1, perPage: 100 };

describe('the history of deliveries', () => {
  let database: Awaited<ReturnType<typeof freshReadModels>>;
  let pool: Pool;
  let store: EventStore;
  before(async () => {
    database = await freshReadModels();
    pool = createPool(database.url, silent);
  });
  beforeEach(async () => {
    store = createMemoryStore();
    await pool.query('truncate deliveries_v1, deliveries_v1_successes');
  });
  after(async () => {
    await pool.end();
    await database.drop();
  });

  const apply = async (events: Awaited<ReturnType<typeof appendAt>>): Promise<void> => {
    const client = await pool.connect();
    await inTransaction(client, () => deliveriesProjection.apply(client, deliveriesProjection.table, events)).finally(() => client.release());
  };
  /** Adds a delivery and answers its id. */
  const add = async (events: readonly DeliveryEvent[], atMs: number = QUEUED_MS): Promise<string> => {
    const delivery = newDelivery();
    await apply(await appendAt(store, delivery, events, atMs));
    return delivery.id;
  };
  const list = (query: Partial<DeliveryListQuery> = {}) => listDeliveries(pool, { ...EVERYTHING, ...query });
  const idsOf = async (query: Partial<DeliveryListQuery> = {}): Promise<string[]> => (await list(query)).rows.map((row) => row.deliveryId);

  it('goes by time, the newest first, and by the log where the times are the same', async () => {
    const [a, b, c, d] = [await add([queued()]), await add([queued()], QUEUED_MS + 5), await add([queued()]), await add([queued()], QUEUED_MS + 5)];
    expect(await idsOf()).to.deep.equal([d, b, c, a]);
  });

  it('shows everything that is known of a delivery (§6 delivery 4)', async () => {
    const first = queued();
    const source = first.data.source;
    const id = await add([first, attemptStarted(), attemptFailed(1, QUEUED_MS + 60_000)]);
    const replay = await add([queued({ ...first.data, replay_of: id })]);
    const sample = queuedTest();
    const test = await add([sample, attemptStarted(), delivered()]);
    const common = { webhookId: WEBHOOK_ID, event: 'job.finished', queuedAt: new Date(QUEUED_MS).toISOString() };
    const jobId = source.kind === 'job' ? source.job_id : undefined;
    expect(new Map((await list()).rows.map((row) => [row.deliveryId, row]))).to.deep.equal(
      new Map<string, unknown>([
        [id, { ...common, deliveryId: id, eventId: first.data.event_id, jobId, test: false, status: 'retrying', attempts: 1, statusCode: 503, failure: 'http_status', durationMs: 34, lastAttemptAt: new Date(QUEUED_MS + 10).toISOString(), nextAttemptAt: new Date(QUEUED_MS + 60_000).toISOString() }],
        [replay, { ...common, deliveryId: replay, eventId: first.data.event_id, jobId, test: false, replayOf: id, status: 'queued', attempts: 0 }],
        [test, { ...common, deliveryId: test, eventId: sample.data.event_id, test: true, status: 'delivered', attempts: 1, statusCode: 204, durationMs: 12, lastAttemptAt: new Date(QUEUED_MS + 10).toISOString() }],
      ]),
    );
  });

  it('never shows those of another endpoint or organization', async () => {
    const mine = await add([queued()]);
    await add([queued({ webhook_id: OTHER_ID })]);
    expect(await idsOf()).to.deep.equal([mine]);
    expect(await list({ organizationId: OTHER_ID })).to.deep.equal({ rows: [], total: 0 });
  });

  it('pages without gap or repetition, with the total on every page, also past the end, and filters by status', async () => {
    await apply(await appendDeliveries(store, 2));
    const all = await list();
    expect(all.total).to.equal(16);
    const paged: unknown[] = [];
    for (let page = 1; page <= 6; page += 1) {
      const { rows, total } = await list({ page, perPage: 3 });
      expect(total).to.equal(16);
      paged.push(...rows);
    }
    expect(paged).to.deep.equal(all.rows);
    expect(await list({ page: 7, perPage: 3 })).to.deep.equal({ rows: [], total: 16 });
    for (const status of DELIVERY_STATUSES) {
      const expected = all.rows.filter((row) => row.status === status);
      expect(expected, status).to.not.be.empty;
      expect(await list({ status }), status).to.deep.equal({ rows: expected, total: expected.length });
    }
    expect(await list({ page: HISTORY_DEPTH_MAX / 100 + 1 })).to.deep.equal({ rows: [], total: 16 });
  });

  it('ends 30 days before the moment it is asked, although nothing has happened since (§6 delivery 4)', async () => {
    const id = await add([queued()]);
    const [before, end] = [-1, 0].map((ms) => new Date(QUEUED_MS + DELIVERIES_KEPT_MS + ms).toISOString()) as [string, string];
    expect(await idsOf({ now: before })).to.deep.equal([id]);
    expect(await list({ now: end })).to.deep.equal({ rows: [], total: 0 });
  });

  it('knows when each endpoint last took a delivery, of whichever it was (§2.4, D58)', async () => {
    await add([queued(), attemptStarted(), delivered()], QUEUED_MS + 100);
    await add([queuedTest(), attemptStarted(), delivered()], QUEUED_MS + 200);
    await add([queued(), attemptStarted(), delivered()]);
    await add([queued({ webhook_id: OTHER_ID }), attemptStarted(), attemptFailed()]);
    expect(await readLastSuccesses(pool, [WEBHOOK_ID, OTHER_ID])).to.deep.equal(new Map([[WEBHOOK_ID, new Date(QUEUED_MS + 202).toISOString()]]));
    expect(await readLastSuccesses(pool, [])).to.deep.equal(new Map());
  });

  const replayable = (query: Partial<ReplayQuery> = {}) => listReplayable(pool, { ...EVERYTHING, since: new Date(QUEUED_MS).toISOString(), status: 'all', limit: 100, ...query });
  const replayIds = async (query: Partial<ReplayQuery> = {}): Promise<string[]> => (await replayable(query)).deliveries.map(({ deliveryId }) => deliveryId);

  describe('what is replayed', () => {
    const failing = [attemptStarted(), attemptFailed()];

    it('are events that have come to an end, or those that never arrived, without tests', async () => {
      const ended = await add([queued(), attemptStarted(), delivered()]);
      const failed = await add([queued(), ...failing], QUEUED_MS + 1);
      const given = await add([queued(), stopped], QUEUED_MS + 2);
      await add([queued()], QUEUED_MS + 3);
      await add([queuedTest(), ...failing], QUEUED_MS + 4);
      expect(await replayIds()).to.deep.equal([ended, failed, given]);
      expect(await replayIds({ status: 'failed' })).to.deep.equal([failed, given]);
      expect(await replayIds({ since: new Date(QUEUED_MS + 1).toISOString() })).to.deep.equal([failed, given]);
      expect(await replayIds({ organizationId: OTHER_ID })).to.be.empty;
    });

    it('are each event once, and none that is on its way again or has arrived since', async () => {
      const [a, b, c] = [randomUUID(), randomUUID(), randomUUID()];
      const first = await add([queued({ event_id: a }), ...failing]);
      const second = await add([queued({ event_id: b }), ...failing]);
      const third = await add([queued({ event_id: c }), ...failing]);
      await add([queued({ event_id: a, replay_of: first })]);
      await add([queued({ event_id: b, replay_of: second }), attemptStarted(), delivered()]);
      await add([queued({ event_id: c, replay_of: third }), ...failing]);
      expect(await replayIds({ status: 'failed' })).to.deep.equal([third]);
      expect((await replayIds()).sort()).to.deep.equal([second, third].sort());
    });

    it('come in bounded pieces that lose nothing, also where several were queued at once', async () => {
      const expected: string[] = [];
      for (const [index, atMs] of [0, 1, 1, 1, 2, 3, 3].entries()) expected.push(await add([queued(), ...failing], QUEUED_MS + atMs * 1000 + (index > 6 ? 1 : 0)));
      const found: string[] = [];
      let since: string | undefined = new Date(QUEUED_MS).toISOString();
      for (let calls = 0; since !== undefined && calls < 10; calls += 1) {
        const { deliveries, nextSince } = await replayable({ since, limit: 2 });
        expect(deliveries.length).to.be.at.most(4);
        found.push(...deliveries.map(({ deliveryId }) => deliveryId));
        since = nextSince;
      }
      expect(found).to.have.members(expected).and.to.have.length(expected.length);
    });
  });

  it('uses an index for every question', async () => {
    const chunk = 2_000;
    for (let first = 1; first <= 10_000; first += chunk) {
      await pool.query(
        `insert into deliveries_v1 select gen_random_uuid(), case when n % 20 = 0 then $1::uuid else gen_random_uuid() end, $2, gen_random_uuid(), 'job.finished', gen_random_uuid(), null,
           case when n % 7 = 0 then 'failed' else 'delivered' end, 1, 200, null, 5, $3::timestamptz - n * interval '1 second', n, null, null, '{}', 1, n, '' from generate_series($4::int, $5::int) as n`,
        [WEBHOOK_ID, ORGANIZATION_ID, NOW, first, first + chunk - 1],
      );
    }
    await pool.query('analyze deliveries_v1');
    for (const query of [{}, { status: 'failed' as const }]) {
      const { text, values } = listStatement({ ...EVERYTHING, perPage: 25, ...query });
      const { rows } = await pool.query<{ 'QUERY PLAN': string }>(`explain ${text}`, [...values]);
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      expect(plan).to.match(/Index.* deliveries_v1_/u).and.not.match(/Seq Scan on deliveries_v1\b/u);
    }
  });
});
