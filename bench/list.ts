import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { listStatement, LIST_DEPTH_MAX, type JobListQuery } from '../projections/jobs/queries.ts';
import { migrate } from '../projections/migrate.ts';
import { startPostgres } from '../services/standalone/postgres.ts';

/** Jobs of the large organization, and of the small one that it is compared with. */
const [MANY, FEW] = [1_000_000, 1_000];
/** Rows that are inserted by one statement. */
const CHUNK = 50_000;
/** How often each query is timed; the median counts. */
const RUNS = 21;

const ORGANIZATION_ID = '0190a000-0000-7000-8000-000000000001';
const KEY_ID = '0190a000-0000-7000-8000-000000000002';
const OTHER_KEY_ID = '0190a000-0000-7000-8000-000000000003';
const [COMMON_TAG, RARE_TAG] = ['a'.repeat(64), 'b'.repeat(64)];
const PASSWORD = 'bench';

/**
 * One organization as it is after some years: nearly all of its jobs have expired, the newest are kept, a few failed, and
 * of some the time is over although their event has not come yet. The newest job has the highest `n`.
 */
const INSERT = `
  insert into jobs_v1 (job_id, organization_id, key_mode, api_key_id, tag_hmac, created_at, created_position, status, turns_expired_at, state, version, last_position, last_hash)
  select gen_random_uuid(), '${ORGANIZATION_ID}', 'live', case when n % 3 = 0 then '${OTHER_KEY_ID}'::uuid else '${KEY_ID}'::uuid end,
    case when n % 2 = 0 then '${COMMON_TAG}' when n % 1001 = 0 then '${RARE_TAG}' end,
    now() - ($3::int - n) * interval '30 seconds', n, kind.status,
    case when kind.status = 'finished' then now() + interval '1 day' - ($3::int - n) * interval '30 seconds' end,
    jsonb_build_object('kind', 'live', 'status', kind.status, 'created', jsonb_build_object('typed', 'v1.' || repeat(md5(n::text), 16))),
    5, n, repeat('c', 64)
  from generate_series($1::int, $2::int) as n,
    lateral (select case when n > $3::int - 3000 then 'finished' when n % 500 = 0 then 'error' when n % 700 = 0 then 'cancelled' else 'expired' end as status) as kind`;

type Query = Partial<JobListQuery>;
const QUERIES: Readonly<Record<string, Query>> = {
  'first page': {},
  'third page': { page: 3 },
  'deepest page (100 a page)': { page: LIST_DEPTH_MAX / 100, perPage: 100 },
  'too deep (100 a page)': { page: LIST_DEPTH_MAX / 100 + 1, perPage: 100 },
  'status=finished': { status: 'finished' },
  'status=expired': { status: 'expired' },
  'status=error': { status: 'error' },
  'status=waiting (none)': { status: 'waiting' },
  api_key_id: { apiKeyId: OTHER_KEY_ID },
  'api_key_id and status=error': { apiKeyId: OTHER_KEY_ID, status: 'error' },
  'tag of one in a thousand': { tagHmac: RARE_TAG },
  'tag of every second job': { tagHmac: COMMON_TAG },
};

type Timed = { readonly medianMs: number; readonly plan: string };

async function load(client: pg.Client, jobs: number): Promise<void> {
  for (let first = 1; first <= jobs; first += CHUNK) await client.query(INSERT, [first, Math.min(first + CHUNK - 1, jobs), jobs]);
  await client.query('insert into jobs_v1_counts select organization_id, key_mode, api_key_id, status, count(*) from jobs_v1 group by 1, 2, 3, 4');
  await client.query('vacuum analyze jobs_v1');
  await client.query('vacuum analyze jobs_v1_counts');
}

async function time(client: pg.Client, query: Query): Promise<Timed> {
  const { text, values } = listStatement({ organizationId: ORGANIZATION_ID, keyMode: 'live', page: 1, perPage: 20, now: new Date().toISOString(), ...query });
  const times: number[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const startMs = performance.now();
    await client.query(text, [...values]);
    times.push(performance.now() - startMs);
  }
  const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain (analyze, buffers, costs off) ${text}`, [...values]);
  return { medianMs: times.sort((a, b) => a - b)[Math.floor(RUNS / 2)] ?? 0, plan: rows.map((row) => row['QUERY PLAN']).join('\n') };
}

/** Times every query on a database of its own with so many jobs. */
async function measure(serverUrl: string, jobs: number): Promise<ReadonlyMap<string, Timed>> {
  const url = new URL(serverUrl);
  const name = `jobs_${jobs}`;
  await withClient(serverUrl, (client) => client.query(`create database ${name}`));
  url.pathname = `/${name}`;
  await migrate(url.href, () => undefined);
  return await withClient(url.href, async (client) => {
    say(`loading ${jobs} jobs`);
    await load(client, jobs);
    const timed = new Map<string, Timed>();
    for (const [what, query] of Object.entries(QUERIES)) timed.set(what, await time(client, query));
    return timed;
  });
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

const folder = await mkdtemp(join(tmpdir(), 'bench-list-'));
// As root, Postgres runs as another user, who must get to its data.
await chmod(folder, 0o711);
const server = await startPostgres({ folder, port: 0, user: 'bench', password: PASSWORD, database: 'bench' });
try {
  const few = await measure(server.url, FEW);
  const many = await measure(server.url, MANY);
  for (const [what, { plan }] of many) say(`\n## ${what}, ${MANY} jobs\n\n${plan}`);
  say(`\n| list | ${FEW} jobs | ${MANY} jobs | ratio |\n|---|---|---|---|`);
  for (const [what, { medianMs }] of many) {
    const base = few.get(what)?.medianMs ?? Number.NaN;
    say(`| ${what} | ${base.toFixed(2)} ms | ${medianMs.toFixed(2)} ms | ${(medianMs / base).toFixed(1)} |`);
  }
} finally {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}
