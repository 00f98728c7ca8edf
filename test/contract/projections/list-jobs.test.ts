import { expect } from 'chai';
import type { Pool } from 'pg';
import { buildFilter, listJobs, type JobListQuery } from '../../../projections/jobs/queries.ts';
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
  afterEach(() => pool.query('truncate jobs_v1'));
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

  it('uses an index for every filter', async () => {
    await pool.query(
      `insert into jobs_v1 select gen_random_uuid(), case when n % 50 = 0 then $1::uuid else gen_random_uuid() end, 'live', case when n % 3 = 0 then $2::uuid else gen_random_uuid() end,
         case when n % 5 = 0 then md5(n::text) end, now() - n * interval '1 minute', n, case when n % 10 = 0 then 'finished' else 'expired' end, null, '{}', 1, n, ''
       from generate_series(1, 20000) as n`,
      [ORGANIZATION_ID, OTHER_ID],
    );
    await pool.query('analyze jobs_v1');
    const queries: Record<string, Partial<JobListQuery>> = { all: {}, status: { status: 'finished' }, expired: { status: 'expired' }, tag: { tagHmac: 'e'.repeat(64) }, key: { apiKeyId: OTHER_ID } };
    for (const [what, query] of Object.entries(queries)) {
      const { where, values } = buildFilter({ ...EVERYTHING, ...query });
      const { rows } = await pool.query<{ 'QUERY PLAN': string }>(`explain select job_id from jobs where ${where} order by created_at desc, created_position desc limit 25`, values);
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      expect(plan, what).to.match(/Index.* jobs_v1_/u).and.not.contain('Seq Scan');
    }
  });
});

function addMs(time: string, ms: number): string {
  return new Date(Date.parse(time) + ms).toISOString();
}
