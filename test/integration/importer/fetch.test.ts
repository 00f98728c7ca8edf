import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { expect } from 'chai';
import type { ImporterContext } from '../../../services/importer/context.ts';
import { EGRESS_LIMITS } from '../../../shared/egress/limits.ts';
import { TransientError } from '../../../shared/errors/errors.ts';
import { newId } from '../../../shared/ids/ids.ts';
import { sourceKey, type ObjectKey } from '../../../shared/objects/keys.ts';
import type { ObjectStore } from '../../../shared/objects/object-store.ts';
import { fetchKeyName } from '../../../shared/privacy/data-keys.ts';
import { sealFetchTerms } from '../../../shared/privacy/fetch-terms.ts';
import { startEgressBench, type EgressBench } from '../../support/egress-bench.ts';
import { ImporterBench, png, UPLOAD_BYTES_MAX } from '../../support/importer-bench.ts';
import { ORGANIZATION_ID } from '../../support/job-events.ts';
import { drip, redirect, say, serve } from '../../support/origin.ts';

const OTHER_ORGANIZATION_ID = '0190a000-0000-7000-8000-0000000000f0';
/** Largest input of the bench. */
const FETCH_BYTES_MAX = 2 * UPLOAD_BYTES_MAX;
const FILE = png(200_000);
const OK = 'HTTP/1.1 200 OK\r\n';
/** Never ends, and is never too slow. */
const ENDLESS = drip(`${OK}Content-Length: 2000000\r\n\r\n`, FILE.subarray(0, 2000), 50);

describe('Fetching the file of a job (§4.5)', function () {
  this.timeout(90_000);
  let bench: ImporterBench;
  let far: EgressBench;
  let changes: Partial<ImporterContext>;

  before(async () => {
    [bench, far] = [await ImporterBench.start(), await startEgressBench()];
    far.origin.on('/file', serve(FILE));
    far.origin.on('/endless', ENDLESS);
    changes = { egress: far.options({ ...EGRESS_LIMITS, idleMs: 3_000 }) };
    for (let importers = 0; importers < 2; importers += 1) await bench.startImporter(changes);
  });
  after(async () => {
    await bench.stop();
    await far.stop();
  });
  afterEach(() => expect(far.hits(), 'connections to other addresses').to.equal(0));

  type Wish = { readonly url: string; readonly organizationId?: string; readonly keyMode?: 'live' | 'test'; readonly windowMs?: number };

  /** Creates a job with a URL, as the api does. */
  async function createJob({ url, organizationId = ORGANIZATION_ID, keyMode = 'live', windowMs }: Wish): Promise<string> {
    const jobId = newId(Date.now());
    const key = await bench.context.dataKeys.create(fetchKeyName(jobId));
    const fetch = sealFetchTerms(key, organizationId, jobId, { url, headers: [['X-Job', jobId]] });
    return await bench.createJob(windowMs, { import: 'url', organization_id: organizationId, key_mode: keyMode, fetch }, jobId);
  }

  const requestsOf = (jobId: string): number => far.origin.requests.filter(({ headers }) => headers.get('x-job') === jobId).length;
  const untilRequested = (jobId: string, count = 1): Promise<void> => bench.waitUntil('the request', () => Promise.resolve(requestsOf(jobId) >= count), 60_000);
  /** Nothing of the fetch is left but what the log says (§8 URL import rule 2). */
  const untilForgotten = (jobId: string): Promise<void> => bench.waitUntil('the end of the key', async () => (await bench.context.dataKeys.get(fetchKeyName(jobId))) === undefined);

  async function failureOf(jobId: string): Promise<unknown> {
    await bench.waitForStatus(jobId, 'error');
    await untilForgotten(jobId);
    await bench.waitUntil('no object to be left', async () => (await bench.objectsOf(jobId)).length === 0);
    const state = await bench.state(jobId);
    return state.kind === 'live' ? state.error : undefined;
  }

  it('brings it into the store, binds it, and forgets with what it was fetched (§8 url import 2)', async () => {
    const jobId = await createJob({ url: far.url('/file') });
    await bench.waitForStatus(jobId, 'queued');
    await untilForgotten(jobId);
    expect(await bench.objectsOf(jobId)).to.deep.equal([sourceKey(jobId)]);
    const head = await bench.objects.head(sourceKey(jobId));
    const state = await bench.state(jobId);
    expect(state).to.deep.include({ status: 'queued' });
    if (state.kind === 'live') expect(state.source).to.include({ size_bytes: FILE.length, etag: head?.etag });
    expect(await bench.eventTypes(jobId)).to.deep.equal(['job.created', 'job.source_received']);
    expect(requestsOf(jobId)).to.equal(1);
  });

  const failures: Readonly<Record<string, readonly [() => Promise<string>, unknown]>> = {
    'another status': [() => at('/missing', say('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n')), { code: 'url_import_failed', reason: 'http_status' }],
    'a redirect to a private address': [() => at('/private', redirect('https://127.0.0.1/')), { code: 'url_import_failed', reason: 'blocked_address' }],
    'a name with a private address': [() => Promise.resolve((far.names.set('private.example.test', ['10.0.0.1']), 'https://private.example.test/x')), { code: 'url_import_failed', reason: 'blocked_address' }],
    'a URL that the api would not have taken': [() => Promise.resolve('http://127.0.0.1/x'), { code: 'url_import_failed', reason: 'not_https' }],
    'a body that stops': [() => at('/stops', say(`${OK}Content-Length: 100\r\n\r\nabc`)), { code: 'url_import_failed', reason: 'timeout' }],
    'a body that breaks off': [() => at('/breaks', (socket) => socket.end(`${OK}Content-Length: 100\r\n\r\nabc`)), { code: 'url_import_failed', reason: 'network' }],
    'too many bytes': [() => at('/large', say(`${OK}Content-Length: ${FETCH_BYTES_MAX + 1}\r\n\r\n`)), { code: 'file_too_large', max_bytes: FETCH_BYTES_MAX }],
    'no bytes': [() => at('/empty', serve(Buffer.alloc(0))), { code: 'internal', reason: 'system_error', cause: 'empty_file' }],
    'a file of another format': [() => at('/text', serve(Buffer.from('no picture'))), { code: 'internal', reason: 'system_error', cause: 'not_what_it_claims' }],
  };
  function at(path: string, behave: Parameters<EgressBench['origin']['on']>[1]): Promise<string> {
    far.origin.on(path, behave);
    return Promise.resolve(far.url(path));
  }
  for (const [what, [urlOf, error]] of Object.entries(failures)) {
    it(`ends the job with ${what}, once and for all (§8 url import 4, §8 url import 5)`, async () => {
      const jobId = await createJob({ url: await urlOf() });
      expect(await failureOf(jobId)).to.deep.equal(error);
      expect(await bench.eventTypes(jobId)).to.deep.equal(['job.created', 'job.failed']);
      expect(requestsOf(jobId)).to.be.at.most(1);
    });
  }

  it('checks the URL of a test job nowhere but by its text, and connects to nothing (§5.3, D65, D94)', async () => {
    const jobId = await createJob({ url: far.url('/file'), keyMode: 'test' });
    await bench.waitForStatus(jobId, 'queued');
    await untilForgotten(jobId);
    expect([requestsOf(jobId), await bench.objectsOf(jobId)]).to.deep.equal([0, []]);
  });

  for (const [type, left] of [['cancel', ['job.created', 'job.cancelled']], ['delete', ['job.created', 'job.deleted']]] as const) {
    it(`stops at once when the job is ended by ${type}, and leaves nothing (D15)`, async () => {
      const jobId = await createJob({ url: far.url('/endless') });
      await untilRequested(jobId);
      const open = far.origin.openConnections();
      const startedMs = performance.now();
      await bench.command(jobId, { type });
      await bench.waitUntil('the end of the connection', () => Promise.resolve(far.origin.openConnections() < open));
      expect(performance.now() - startedMs).to.be.below(2_000);
      await untilForgotten(jobId);
      expect([await bench.objectsOf(jobId), await bench.eventTypes(jobId)]).to.deep.equal([[], left]);
    });
  }

  it('fails a job whose file nobody fetched in time, so that nothing is held for ever', async () => {
    const jobId = await createJob({ url: far.url('/endless'), windowMs: 3_000 });
    await untilRequested(jobId);
    expect(await failureOf(jobId)).to.deep.equal({ code: 'url_import_failed', reason: 'timeout' });
  });

  it('either is received or ended with nothing left, however late the end comes (D15, D35)', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 24 }, async (_, index) => {
        const path = `/race-${index}`;
        const jobId = await createJob({ url: far.url(path) });
        const answered = new Promise<void>((resolve) => far.origin.on(path, (socket, request) => (serve(FILE)(socket, request), setTimeout(resolve, index * 2))));
        await answered;
        await bench.command(jobId, { type: 'cancel' }).catch(() => undefined);
        await untilForgotten(jobId);
        const state = await bench.state(jobId);
        const status = state.kind === 'live' ? state.status : state.kind;
        if (status === 'cancelled') await bench.waitUntil('no object to be left', async () => (await bench.objectsOf(jobId)).length === 0);
        return status;
      }),
    );
    for (const status of outcomes) expect(status).to.be.oneOf(['queued', 'cancelled']);
    expect(outcomes).to.include('cancelled');
  });

  it('does not fetch again what an importer stored before it died', async () => {
    await bench.stopImporters();
    const jobId = await createJob({ url: far.url('/file') });
    await bench.upload(jobId, FILE);
    for (let importers = 0; importers < 2; importers += 1) await bench.startImporter(changes);
    await bench.waitForStatus(jobId, 'queued');
    expect(requestsOf(jobId)).to.equal(0);
  });

  it('is handed to another importer at once by one that stops', async () => {
    const jobId = await createJob({ url: far.url('/endless') });
    await untilRequested(jobId);
    far.origin.on('/endless', serve(FILE));
    await bench.stopImporters();
    expect(await bench.eventTypes(jobId)).to.deep.equal(['job.created']);
    for (let importers = 0; importers < 2; importers += 1) await bench.startImporter(changes);
    await bench.waitForStatus(jobId, 'queued');
    far.origin.on('/endless', ENDLESS);
  });

  it('waits out a store that is away, and asks the host again', async () => {
    await bench.stopImporters();
    let refusals = 2;
    const objects = failingWrites(bench.objects, () => refusals-- > 0);
    await bench.startImporter({ ...changes, objects });
    const jobId = await createJob({ url: far.url('/file') });
    await bench.waitForStatus(jobId, 'queued');
    expect(requestsOf(jobId)).to.equal(3);
    await bench.stopImporters();
    for (let importers = 0; importers < 2; importers += 1) await bench.startImporter(changes);
  });

  it('lets no organization with slow hosts delay another one, or its own test jobs (§5.3)', async () => {
    await bench.stopImporters();
    await bench.startImporter({ egress: far.options(EGRESS_LIMITS) });
    far.origin.on('/stuck', say(`${OK}Content-Length: 100\r\n\r\n`));
    const slow = await Promise.all(Array.from({ length: 60 }, () => createJob({ url: far.url('/stuck') })));
    await bench.waitUntil('slow fetches', () => Promise.resolve(slow.filter((jobId) => requestsOf(jobId) > 0).length >= 45));
    const jobId = await createJob({ url: far.url('/file'), organizationId: OTHER_ORGANIZATION_ID });
    await bench.waitForStatus(jobId, 'queued');
    // A test job of the same organization fetches nothing, so it does not wait either (§5.3).
    await bench.waitForStatus(await createJob({ url: far.url('/file'), keyMode: 'test' }), 'queued');
    // Every slow one still holds its place.
    for (const stuck of slow) expect(await bench.eventTypes(stuck)).to.deep.equal(['job.created']);
    for (const stuck of slow) expect(await failureOf(stuck)).to.deep.equal({ code: 'url_import_failed', reason: 'timeout' });
  });
});

/** A store whose writes fail for as long as `isAway` says, after some bytes of the body. */
function failingWrites(objects: ObjectStore, isAway: () => boolean): ObjectStore {
  return new Proxy(objects, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (name === 'write' && isAway()) {
        return async (_key: ObjectKey, body: Readable) => {
          await once(body, 'readable');
          throw new TransientError('storage', 'away');
        };
      }
      return typeof value === 'function' ? value.bind(target) as unknown : value;
    },
  });
}
