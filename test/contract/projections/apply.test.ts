import { expect } from 'chai';
import type { ClientBase, Pool, PoolClient } from 'pg';
import type { Projection } from '../../../projections/projection.ts';
import { PROJECTIONS } from '../../../projections/projection.ts';
import { Defect } from '../../../shared/errors/errors.ts';
import type { StoredEvent } from '../../../shared/events/envelope.ts';
import { createPool } from '../../../shared/postgres/pool.ts';
import { createMemoryStore } from '../../../shared/store/memory.ts';
import { granted, newCredits } from '../../support/events.ts';
import { appendAll, appendHistories, foldJobs, newJob } from '../../support/log-filler.ts';
import { created, HISTORIES, sourceReceived } from '../../support/job-events.ts';
import { freshReadModels, silent } from '../../support/read-models.ts';

const { jobs, credits } = PROJECTIONS;

async function creditsEvents(): Promise<readonly StoredEvent[]> {
  const [store, job, other] = [createMemoryStore(), newJob().id, newJob().id];
  return appendAll(store, newCredits(), [
    granted(10),
    { type: 'credits.held', data: { job_id: job, amount: 4 } },
    { type: 'credits.held', data: { job_id: other, amount: 3 } },
    { type: 'credits.charged', data: { job_id: job, amount: 1, held: 4, billable_ms: 10, speed_factor: 1, weight: 1 } },
    { type: 'credits.released', data: { job_id: other, amount: 3, reason: 'failed' } },
  ]);
}

describe('applying events to a read model', () => {
  let database: Awaited<ReturnType<typeof freshReadModels>>;
  let pool: Pool;
  let client: PoolClient;
  before(async () => {
    database = await freshReadModels();
    pool = createPool(database.url, silent);
    client = await pool.connect();
  });
  afterEach(() => client.query('truncate jobs_v1, jobs_v1_counts, credits_v1'));
  after(async () => {
    client.release();
    await pool.end();
    await database.drop();
  });

  const rowsAfter = async (projection: Projection, batches: readonly (readonly StoredEvent[])[]): Promise<unknown[]> => {
    await client.query(`truncate ${projection.table}${projection.companion ? `, ${projection.companion.tableFor(projection.table)}` : ''}`);
    for (const batch of batches) await projection.apply(client, projection.table, batch);
    return readRows(client, projection);
  };

  it('gives the same rows when every event comes twice in a row, and when a batch comes twice', async () => {
    const live = (await appendHistories(createMemoryStore(), 2)).filter(({ event }) => event.type !== 'job.deleted');
    for (const [projection, events] of [[jobs, live], [credits, await creditsEvents()]] as const) {
      const once = await rowsAfter(projection, [events]);
      expect(once).to.not.be.empty;
      expect(await rowsAfter(projection, [events.flatMap((event) => [event, event])])).to.deep.equal(once);
      expect(await rowsAfter(projection, [events, events])).to.deep.equal(once);
    }
  });

  it('gives the same rows whatever the size of the batches', async () => {
    const events = await appendHistories(createMemoryStore(), 2);
    expect(await rowsAfter(jobs, events.map((event) => [event]))).to.deep.equal(await rowsAfter(jobs, [events]));
  });

  it('gives every job the state that a fold of its events gives', async () => {
    const events = await appendHistories(createMemoryStore());
    await rowsAfter(jobs, [events]);
    const { rows } = await client.query<{ job_id: string; state: unknown }>('select job_id, state from jobs');
    expect(new Map(rows.map((row) => [row.job_id, row.state]))).to.deep.equal(foldJobs(events));
  });

  it('refuses an event whose predecessor is missing, and any event after a deletion', async () => {
    const [first, second] = await appendAll(createMemoryStore(), newJob(), [created(), sourceReceived]);
    if (!first || !second) throw new Error('two events were appended');
    await expectDefect(rowsAfter(jobs, [[second]]));
    const deletion = (await appendAll(createMemoryStore(), newJob(), HISTORIES.deleted)).at(-1);
    if (!deletion) throw new Error('a deletion was appended');
    await rowsAfter(jobs, [[first]]);
    await jobs.apply(client, jobs.table, [{ ...deletion, envelope: second.envelope, aggregate: first.aggregate, version: 2, position: 50 }]);
    expect(await readRows(client, jobs)).to.be.empty;
    await expectDefect(jobs.apply(client, jobs.table, [{ ...second, version: 3, position: 51 }]));
  });

  it('refuses an event that does not name the hash of the event before it, also from an earlier batch', async () => {
    const [first, second] = await appendAll(createMemoryStore(), newJob(), [created(), sourceReceived]);
    const [grant, again] = await appendAll(createMemoryStore(), newCredits(), [granted(1), granted(1_000_000)]);
    if (!first || !second || !grant || !again) throw new Error('two events each were appended');
    await expectDefect(rowsAfter(jobs, [[first, forge(second)]]));
    await expectDefect(rowsAfter(jobs, [[first], [forge(second)]]));
    await expectDefect(rowsAfter(credits, [[grant], [forge(again)]]));
    expect(await rowsAfter(credits, [[grant], [again]])).to.have.length(1);
  });

  it('halts rather than shows an organization more credits than it was granted', async () => {
    const events = await appendAll(createMemoryStore(), newCredits(), [granted(1), { type: 'credits.held', data: { job_id: newJob().id, amount: 2 } }]);
    let code: unknown;
    await credits.apply(client, credits.table, events).catch((error: unknown) => (code = error instanceof Error && 'code' in error ? error.code : error));
    expect(code, 'check_violation').to.equal('23514');
  });
});

function forge(stored: StoredEvent): StoredEvent {
  return { ...stored, envelope: { ...stored.envelope, prevhash: '0'.repeat(64) } };
}

async function readRows(client: ClientBase, projection: Projection): Promise<unknown[]> {
  return (await client.query(`select * from ${projection.name} order by ${projection.key}`)).rows;
}

async function expectDefect(work: Promise<unknown>): Promise<void> {
  const caught = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(caught).to.be.instanceOf(Defect);
}
