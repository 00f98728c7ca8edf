import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { waitFor } from '../../services/standalone/processes.ts';
import type { JobView } from '../../shared/domain/job-view.ts';
import { fetchKeyName } from '../../shared/privacy/data-keys.ts';
import { Books, requireCleanAudit } from '../support/books.ts';
import { resultUrlOf, TestClient, type ErrorBody } from '../support/client.ts';
import { ORIGIN_NAME, startEgressBench, type EgressBench } from '../support/egress-bench.ts';
import { fixturePath } from '../support/fixtures.ts';
import { readLog, typesByJob } from '../support/log-reading.ts';
import { openApiCheck } from '../support/openapi-check.ts';
import { openOperator, type TestOperator } from '../support/organization.ts';
import { drip, ORIGIN_ADDRESS, redirect, serve } from '../support/origin.ts';
import { readPicture } from '../support/pictures.ts';
import { startService, type TestService } from '../support/service.ts';
import { findIn, keptBy } from '../support/sweep.ts';

/** Found nowhere by chance. */
const URL_MARKER = 'zyxURLMARKERqlaWVU';
const HEADER_MARKER = 'zyxHEADERMARKERqlaWVU';
const GRANTED = 50;
/** What a killed importer had in hand comes again after 30 s; then the file is fetched anew. */
const AGAIN_LIMIT_MS = 90_000;
const OPEN_LIMIT_MS = 30_000;

/** Status of the job and of its tasks, in their order. */
function statusesOf(job: JobView): readonly (string | undefined)[] {
  return [job.status, ...(job.tasks ?? []).map(({ status }) => status)];
}

function tasksBy(url: string, more: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    'import-1': { operation: 'import/url', url, ...more },
    'convert-1': { operation: 'convert', input: 'import-1', output_format: 'png' },
    'export-1': { operation: 'export/url', input: 'convert-1' },
  };
}

describe('Importing a file from a URL (§4.5)', function () {
  this.timeout(240_000);
  let far: EgressBench;
  let service: TestService;
  let operator: TestOperator;
  let books: Books;
  let folder: string;
  let photo: Buffer;
  let output = '';

  before(async () => {
    far = await startEgressBench();
    folder = await mkdtemp(join(tmpdir(), 'test-import-'));
    await writeFile(join(folder, 'ca.pem'), far.authority.cert);
    const settings = { OUTBOUND_ALLOWED_ADDRESSES: `${ORIGIN_ADDRESS}/32`, OUTBOUND_CA_FILE: join(folder, 'ca.pem'), OUTBOUND_DNS_SERVERS: far.names.address, LOG_LEVEL: 'trace' };
    service = await startService({ settings, onOutput: (text) => void (output += text) });
    operator = await openOperator(service);
    books = await Books.open(service, operator, GRANTED);
    photo = await readFile(fixturePath('sample.webp'));
    far.origin.on('/photo.webp', serve(photo));
    far.origin.on('/slow.webp', drip(`HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\n`, photo.subarray(0, 2000), 50));
  });
  after(async () => {
    await operator.stop();
    await service.stop();
    await far.stop();
    await rm(folder, { recursive: true, force: true });
  });
  afterEach(() => expect(far.hits(), 'connections to other addresses').to.equal(0));

  async function untilRequested(path: string, count: number): Promise<void> {
    await waitFor(`request ${count} for ${path}`, AGAIN_LIMIT_MS, () => (requestsFor(path) >= count ? true : undefined));
  }

  function requestsFor(path: string): number {
    return far.origin.requests.filter((request) => request.path === path).length;
  }

  async function untilClosed(): Promise<void> {
    await waitFor('the end of the connection', OPEN_LIMIT_MS, () => (far.origin.openConnections() === 0 ? true : undefined));
  }

  it('fetches it, converts it and charges for it; nothing is uploaded (§3.10, D14)', async () => {
    far.origin.on(`/${URL_MARKER}.webp?signature=${URL_MARKER}`, redirect('/photo.webp'));
    const job = await books.create(tasksBy(far.url(`/${URL_MARKER}.webp?signature=${URL_MARKER}`), { headers: { 'X-Secret': HEADER_MARKER, Authorization: `Bearer ${HEADER_MARKER}` } }));
    expect(statusesOf(job)).to.deep.equal(['waiting', 'processing', 'waiting', 'waiting']);
    expect(job.tasks?.[0]).to.deep.equal({ name: 'import-1', operation: 'import/url', status: 'processing', credits: 0 });
    const finished = await books.client.waitForStatus(job.id, 'finished', 'error');
    expect(finished, JSON.stringify(finished.error)).to.include({ status: 'finished', credits_used: 1 });
    const { width, height } = readPicture(photo);
    expect(readPicture((await books.client.send('GET', resultUrlOf(finished))).bytes)).to.deep.equal({ format: 'png', width, height });
    expect(far.origin.requests.slice(-2).map((request) => request.headers.get('x-secret')), 'kept within one origin').to.deep.equal([HEADER_MARKER, HEADER_MARKER]);
  });

  it('leaves neither URL nor headers behind, in no store, table, file or log (§8 url import 2, D88)', async () => {
    const failed = await books.create(tasksBy(far.url(`/${URL_MARKER}/missing.webp`), { headers: { 'X-Secret': HEADER_MARKER } }));
    expect((await books.client.waitForStatus(failed.id, 'finished', 'error')).error).to.deep.include({ code: 'url_import_failed', details: { reason: 'http_status' } });
    await books.client.send('POST', '/v1/jobs', { json: { tasks: tasksBy(`http://${URL_MARKER}/x.webp`, { headers: { 'X-Secret': HEADER_MARKER } }) } });
    for (const id of books.promised) {
      await waitFor('the end of the key', OPEN_LIMIT_MS, async () => ((await operator.accounts.dataKeys.get(fetchKeyName(id))) === undefined ? true : undefined));
    }
    const kept = await keptBy(service, output);
    expect(findIn(kept, [URL_MARKER, HEADER_MARKER, ORIGIN_NAME, photo.subarray(100, 120)])).to.deep.equal([]);
    expect(findIn(kept, [failed.id]), 'the search works').to.include('output');
  });

  it('refuses a URL that is not allowed, and creates nothing (§7 url_import_failed 400, §8 url import 1, D83)', async () => {
    const client = new TestClient(service.baseUrl, (await books.organization.newKey('live')).secret, await openApiCheck(service.baseUrl));
    const before = (await client.send<{ total: number }>('GET', '/v1/jobs')).body.total;
    const refusals: Readonly<Record<string, string>> = {
      'http://example.com/a.webp': 'not_https', 'HTTP://127.0.0.1/a.webp': 'not_https', 'https://127.0.0.1/a.webp': 'blocked_address', 'https://[::ffff:127.0.0.1]/a.webp': 'blocked_address', 'https://2130706433/a.webp': 'blocked_address',
      'https://169.254.169.254/a.webp': 'blocked_address', 'https://user:pw@example.com/a.webp': 'invalid_url', [`https://example.com/${'a'.repeat(2048)}.webp`]: 'invalid_url',
    };
    for (const [url, reason] of Object.entries(refusals)) {
      const answer = await client.send<ErrorBody>('POST', '/v1/jobs', { json: { tasks: tasksBy(url) } });
      expect([answer.status, answer.body.error.code, answer.body.error.details], url).to.deep.equal([400, 'url_import_failed', { reason }]);
    }
    const headers = await client.send<ErrorBody>('POST', '/v1/jobs', { json: { tasks: tasksBy(far.url('/photo.webp'), { headers: { Host: 'x' } }) } });
    expect([headers.status, headers.body.error.code, headers.body.error.details]).to.deep.equal([400, 'validation_failed', { issues: [{ path: 'tasks.import-1.headers.Host', message: 'is a header that the service sets itself' }] }]);
    expect((await client.send<{ total: number }>('GET', '/v1/jobs')).body.total).to.equal(before);
  });

  it('fails a job whose host turns out to be private when it is fetched, and charges nothing (§3.10, §7 url_import_failed 400, §8 url import 3, §8 url import 5)', async () => {
    far.names.set('private.example.test', ['127.0.0.1']);
    const job = await books.create(tasksBy(`https://private.example.test:${far.origin.port}/photo.webp`));
    const failed = await books.client.waitForStatus(job.id, 'finished', 'error');
    expect(failed).to.include({ status: 'error', credits_used: 0 });
    expect(failed.error).to.deep.equal({ code: 'url_import_failed', message: 'The URL, or a redirect from it, leads to an address that is not public.', details: { reason: 'blocked_address' } });
    expect(statusesOf(failed)).to.deep.equal(['error', 'error', 'error', 'error']);
  });

  it('can be cancelled and deleted while it is fetched, which ends the fetch (§3.1, §3.3, D15)', async () => {
    const [cancelled, deleted] = [await books.create(tasksBy(far.url('/slow.webp'))), await books.create(tasksBy(far.url('/slow.webp')))];
    await untilRequested('/slow.webp', 2);
    const answer = await books.client.send<JobView>('POST', `/v1/jobs/${cancelled.id}/cancel`);
    expect([answer.status, ...statusesOf(answer.body)]).to.deep.equal([200, 'cancelled', 'cancelled', 'cancelled', 'cancelled']);
    expect((await books.client.send('DELETE', `/v1/jobs/${deleted.id}`)).status).to.equal(204);
    expect((await books.client.send('GET', `/v1/jobs/${deleted.id}`)).status).to.equal(404);
    await untilClosed();
    books.promised.delete(deleted.id);
  });

  it('takes the URL of a test job for checked, and connects to nothing (§5.3, D94)', async () => {
    const client = new TestClient(service.baseUrl, (await books.organization.newKey('test')).secret);
    const requests = far.origin.requests.length;
    const job = await client.createJob(tasksBy('https://nowhere.example.test/photo.webp'));
    expect(statusesOf(job)).to.deep.equal(['waiting', 'processing', 'waiting', 'waiting']);
    expect(await client.waitForStatus(job.id, 'finished', 'error')).to.include({ status: 'finished', credits_used: 0 });
    const rehearsed = await client.createJob(tasksBy(far.url('/photo.webp')), { tag: 'test:fail=url_import_failed/network' });
    expect((await client.waitForStatus(rehearsed.id, 'finished', 'error')).error).to.deep.include({ code: 'url_import_failed', details: { reason: 'network' } });
    expect((await client.send<ErrorBody>('POST', '/v1/jobs', { json: { tasks: tasksBy('http://example.com/a.webp') } })).body.error.details).to.deep.equal({ reason: 'not_https' });
    expect(far.origin.requests.length).to.equal(requests);
  });

  it('is fetched again when the importer is killed in the middle, and received once', async () => {
    const before = requestsFor('/slow.webp');
    const job = await books.create(tasksBy(far.url('/slow.webp')));
    await untilRequested('/slow.webp', before + 1);
    far.origin.on('/slow.webp', serve(photo));
    service.kill('importer');
    await untilRequested('/slow.webp', before + 2);
    expect((await books.client.waitForStatus(job.id, 'finished', 'error')).status).to.equal('finished');
    expect(typesByJob(await readLog(operator.nc, 'JOBS')).get(job.id)).to.deep.equal(['job.created', 'job.source_received', 'job.conversion_started', 'job.finished']);
  });

  it('says at every start that its outbound requests are not for public hosts alone, and the books are right', async () => {
    for (const name of ['OUTBOUND_ALLOWED_ADDRESSES', 'OUTBOUND_CA_FILE']) expect(output).to.match(new RegExp(`"level":"warn"[^\\n]*${name} is set`));
    await books.requireRight();
    await requireCleanAudit(service);
  });
});
