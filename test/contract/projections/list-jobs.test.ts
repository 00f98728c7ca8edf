import { expect } from 'chai';
import type { Pool } from 'pg';
import { LIST_DEPTH_MAX, listJobs, listStatement, type JobListQuery } from '../../../projections/jobs/queries.ts';
import { jobsProjection } from '../../../projections/jobs/projection.ts';
import { JOB_STATUSES } from '../../../shared/domain/job-state.ts';
import { jobAt } from '../../../shared/domain/job-view.ts';
import type { StoredEvent } from '../../../shared/events/envelope.ts';
import type { EventData } from '../../../shared/events/registry.ts';
import { createPool } from '../../../shared/postgres/pool.ts';
import { createMemoryStore } from '../../../shared/store/memory.ts';
import { appendAll, appendHistories, newJob } from '../../support/log-filler.ts';
import { created, CREATED_AT, FINISHED_EXPIRES_AT, ORGANIZATION_ID, UPLOAD_DEADLINE_AT } from '../../support/job-events.ts';
import { freshReadModels, silent } from '../../support/read-models.ts';

const EVERYTHING: JobListQuery = { organizationId: ORGANIZATION_ID, keyMode: 'live', page: 1, perPage: 100, now: CREATED_AT };
const OTHER_ID = '0190a000-0000-7000-8000-0000000000ff';

describe('listing jobs', () => {
  let database: Awaited<ReturnType<typeof freshReadModels>>;
  let pool: Pool;
  before(async () => {
    database = await freshReadModels();
    pool = createPool(database.url, silent);
  });
  afterEach(() => pool.query('truncate jobs_v1, jobs_v1_counts'));
  after(async () => {
    await pool.end();
    await database.drop();
  });

  const apply = async (events: readonly StoredEvent[]): Promise<void> => {
    const client = await pool.connect();
    await jobsProjection.apply(client, jobsProjection.table, events).finally(() => client.release());
  };
  const list = async (query: Partial<JobListQuery> = {}) => listJobs(pool, { ...EVERYTHING, ...query });
  const create = async (...data: readonly Partial<EventData<'job.created'>>[]): Promise<string[]> => {
    const store = createMemoryStore();
    const ids = data.map(() => newJob());
    const events: StoredEvent[] = [];
    for (const [index, id] of ids.entries()) events.push(...(await appendAll(store, id, [created(data[index])])));
    await apply(events);
    return ids.map(({ id }) => id);
  };

  it('goes by time, the newest first, and by the log where the times are the same (D48)', async () => {
    const late = { created_at: '2026-01-01T00:00:01.000Z' };
    const [a, b, c, d] = await create({}, late, {}, late);
    expect((await list()).rows.map(({ jobId }) => jobId)).to.deep.equal([d, b, c, a]);
  });

  it('has the real total on every page, also past the end (D48)', async () => {
    const [a, b, c] = await create({}, {}, {});
    const page = async (number: number) => {
      const { rows, total } = await list({ page: number, perPage: 2 });
      return [rows.map(({ jobId }) => jobId), total];
    };
    expect([await page(1), await page(2), await page(3)]).to.deep.equal([[[c, b], 3], [[a], 3], [[], 3]]);
    expect(await list({ organizationId: OTHER_ID })).to.deep.equal({ rows: [], total: 0 });
  });

  it('never shows jobs of another organization, or of the other key mode', async () => {
    const [mine] = await create({}, { organization_id: OTHER_ID }, { key_mode: 'test' });
    expect((await list()).rows.map(({ jobId }) => jobId)).to.deep.equal([mine]);
  });

  it('finds by tag and by API key, also together', async () => {
    const tag = 'e'.repeat(64);
    const [tagged, both, keyed] = await create({ tag_hmac: tag }, { tag_hmac: tag, api_key_id: OTHER_ID }, { api_key_id: OTHER_ID }, {});
    const found = async (query: Partial<JobListQuery>) => (await list(query)).rows.map(({ jobId }) => jobId);
    expect(await found({ tagHmac: tag })).to.deep.equal([both, tagged]);
    expect(await found({ apiKeyId: OTHER_ID })).to.deep.equal([keyed, both]);
    expect(await found({ tagHmac: tag, apiKeyId: OTHER_ID })).to.deep.equal([both]);
    expect((await list({ tagHmac: 'f'.repeat(64) })).total).to.equal(0);
  });

  it('filters by the status that each job has at this moment, whatever the clock says (D39)', async () => {
    await apply(await appendHistories(createMemoryStore()));
    for (const moment of [CREATED_AT, UPLOAD_DEADLINE_AT, FINISHED_EXPIRES_AT]) {
      for (const now of [addMs(moment, -1), moment, addMs(moment, 1)]) {
        const all = await list({ now });
        for (const status of JOB_STATUSES) {
          const expected = all.rows.filter(({ state }) => jobAt(state, now).status === status);
          expect(await list({ now, status }), `${status} at ${now}`).to.deep.equal({ rows: expected, total: expected.length });
        }
      }
    }
  });

  it('knows how many jobs there are of every kind after every step, without counting them', async () => {
    const events = await appendHistories(createMemoryStore(), 2);
    for (const event of events) await apply([event]);
    await apply(events.filter((event) => event.event.type === 'job.created').slice(0, 5));
    const counted = await pool.query('select * from job_counts order by organization_id, key_mode, api_key_id, status');
    const real = await pool.query('select organization_id, key_mode, api_key_id, status, count(*) as jobs from jobs group by 1, 2, 3, 4 order by 1, 2, 3, 4');
    expect(counted.rows).to.have.length.greaterThan(3).and.deep.equal(real.rows);
    expect(await list({ page: 2, perPage: 100 })).to.deep.equal({ rows: [], total: Number(real.rows.reduce((sum: number, row: { jobs: string }) => sum + Number(row.jobs), 0)) });
  });

  it('finds pages of a filter that is partly by the clock, without gap or repetition (D39, D48)', async () => {
    await apply(await appendHistories(createMemoryStore(), 3));
    const now = addMs(UPLOAD_DEADLINE_AT, 1);
    const all = await list({ now, status: 'expired' });
    const paged: unknown[] = [];
    for (let page = 1; page <= all.total; page += 1) paged.push(...(await list({ now, status: 'expired', page, perPage: 1 })).rows);
    expect(paged).to.deep.equal(all.rows);
    expect(all.total).to.equal(all.rows.length).and.greaterThan(3);
  });

  it('answers a page that lies too deep with nothing, and with the real total (§4.3)', async () => {
    await create({}, {});
    expect(await list({ page: LIST_DEPTH_MAX / 100, perPage: 100 })).to.deep.equal({ rows: [], total: 2 });
    expect(await list({ page: 1_000_000_000, perPage: 100 })).to.deep.equal({ rows: [], total: 2 });
  });

  it('uses an index for every filter', async () => {
    const chunk = 2_000;
    for (let first = 1; first <= 20_000; first += chunk) {
      await pool.query(
        `insert into jobs_v1 select gen_random_uuid(), case when n % 50 = 0 then $1::uuid else gen_random_uuid() end, 'live', case when n % 3 = 0 then $2::uuid else gen_random_uuid() end,
           case when n % 5 = 0 then md5(n::text) end, now() - n * interval '1 minute', n, case when n % 10 = 0 then 'finished' else 'expired' end, null, '{}', 1, n, ''
         from generate_series($3::int, $4::int) as n`,
        [ORGANIZATION_ID, OTHER_ID, first, first + chunk - 1],
      );
    }
    await pool.query('analyze jobs_v1');
    const queries: Record<string, Partial<JobListQuery>> = { all: {}, status: { status: 'finished' }, expired: { status: 'expired' }, tag: { tagHmac: 'e'.repeat(64) }, key: { apiKeyId: OTHER_ID }, 'key and status': { apiKeyId: OTHER_ID, status: 'error' } };
    for (const [what, query] of Object.entries(queries)) {
      const { text, values } = listStatement({ ...EVERYTHING, perPage: 25, ...query });
      const { rows } = await pool.query<{ 'QUERY PLAN': string }>(`explain ${text}`, [...values]);
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      expect(plan, what).to.match(/Index.* jobs_v1_/u).and.not.match(/Seq Scan on jobs_v1\b/u);
    }
  });
});

function addMs(time: string, ms: number): string {
  return new Date(Date.parse(time) + ms).toISOString();
}
