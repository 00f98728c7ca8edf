import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { waitFor } from '../../services/standalone/processes.ts';
import type { JobView } from '../../shared/domain/job-view.ts';
import { resultUrlOf, TestClient, uploadUrlOf } from '../support/client.ts';
import { fixturePath } from '../support/fixtures.ts';
import { openOperator, type TestOperator } from '../support/organization.ts';
import { startService, type TestService } from '../support/service.ts';
import { hasFiles, openStoreOf } from '../support/stored-files.ts';
import { filesIn, findIn, keptBy } from '../support/sweep.ts';

/** Found nowhere by chance; its inner part stays the same in base64 whatever stands before it. */
const MARKER = 'zyxMARKERqlaWVUTSRprivate';
/** An option is typed by the client too; a colour is the one text there is. */
const COLOUR = '#a7c3e9f1';
const ERASED_LIMIT_MS = 60_000;

describe('What a client typed', function () {
  this.timeout(240_000);
  let service: TestService;
  let operator: TestOperator;
  let secret: string;
  let client: TestClient;
  let deleted: JobView;
  let kept: JobView;
  let failed: JobView;
  let output = '';
  let keys = 0;

  before(async () => {
    // With everything that can be logged; a service of its own, because its stores are searched whole.
    service = await startService({ settings: { LOG_LEVEL: 'trace' }, onOutput: (text) => void (output += text) });
    operator = await openOperator(service);
    const organization = await operator.newOrganization(10);
    secret = (await organization.newKey('live')).secret;
    client = new TestClient(service.baseUrl, secret);
    [kept, deleted] = [await convert(), await convert()];
    failed = await client.createJob(tasks(), { tag: MARKER });
    await client.upload(failed, Buffer.from(`no picture, but ${MARKER}`));
    await client.waitForStatus(failed.id, 'error');
    // An engine quotes the names that it does not know, and they come out of the file.
    const drawing = await client.createJob(tasks('svg'));
    await client.upload(drawing, Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><${MARKER}>&${MARKER};</svg>`));
    expect(await client.waitForStatus(drawing.id, 'error', 'finished')).to.have.nested.property('error.details.cause', 'damaged');
    // Requests that are refused are logged as well.
    await client.send('GET', `/v1/jobs?tag=${MARKER}&status=${MARKER}`);
    await client.send('GET', `/v1/jobs?tag=${MARKER}`);
    await client.send('GET', `/v1/${MARKER}`);
    await client.send('POST', '/v1/jobs', { json: { tasks: { [MARKER]: { operation: MARKER } }, tag: MARKER } });
    await client.send('POST', '/v1/jobs', { body: `{"${MARKER}`, headers: { 'Content-Type': 'application/json' } });
    await client.send('DELETE', `/v1/jobs/${failed.id}`);
  });
  after(async () => {
    await operator.stop();
    await service.stop();
  });

  async function convert(): Promise<JobView> {
    const job = await createTwice();
    await client.upload(job, await readFile(fixturePath('sample.webp')));
    const ended = await client.waitForStatus(job.id, 'finished', 'error');
    expect(ended).to.include({ status: 'finished', tag: MARKER });
    expect(ended.tasks?.map(({ name }) => name)).to.deep.equal([`${MARKER}-in`, `${MARKER}-convert`, `${MARKER}-out`]);
    return { ...ended, ...(job.tasks ? { tasks: [job.tasks[0]!, ...(ended.tasks ?? []).slice(1)] } : {}) };
  }

  /** Creates a job under an Idempotency-Key and asks for the answer once more, so that it was read where it is kept. */
  async function createTwice(): Promise<JobView> {
    keys += 1;
    const ask = { json: { tasks: tasks(), tag: MARKER }, headers: { 'Idempotency-Key': `${MARKER}${keys}` } };
    const job = (await client.send<JobView>('POST', '/v1/jobs', ask)).body;
    expect((await client.send('POST', '/v1/jobs', ask)).body).to.deep.equal(job);
    return job;
  }

  it('lies in no store, table, file or log, in no spelling', async () => {
    const secrets = [MARKER, COLOUR.slice(1), secret, signatureOf(uploadUrlOf(kept)), signatureOf(resultUrlOf(kept))];
    expect(findIn(await keptBy(service, output), secrets)).to.deep.equal([]);
    // The search itself works: an id is found, in the stores as in the tables and the logs.
    const places = findIn(await keptBy(service, output), [kept.id, Buffer.from(kept.id.replaceAll('-', ''), 'hex')]);
    for (const place of ['nats/', 'postgres/', 'row of jobs', 'output']) expect(places.some((name) => name.startsWith(place)), place).to.equal(true);
  });

  it('can be read by nobody any more once the job is deleted: its key is gone from the disk', async () => {
    const before = await keyOf(deleted.id);
    expect(before).to.be.instanceOf(Uint8Array);
    const wrapped = Buffer.from(before ?? []);
    expect(await findBytes([wrapped])).not.to.deep.equal([]);
    expect((await client.send('DELETE', `/v1/jobs/${deleted.id}`)).status).to.equal(204);
    await waitFor('the end of the key', ERASED_LIMIT_MS, async () => ((await keyOf(deleted.id)) === undefined ? true : undefined));
    expect(await findBytes([wrapped])).to.deep.equal([]);
    expect((await client.send('GET', resultUrlOf(deleted))).status).to.equal(404);
    const store = await openStoreOf(service);
    await waitFor('the end of the files', ERASED_LIMIT_MS, async () => ((await hasFiles(store, deleted.id)) ? undefined : true));
    expect(await client.readJob(kept.id)).to.include({ tag: MARKER });
  });

  /** The wrapped data key of a job as it is stored; undefined when there is none. */
  async function keyOf(jobId: string): Promise<Uint8Array | undefined> {
    const key = await operator.accounts.dataKeys.get(`job.${jobId}`);
    return key === undefined ? undefined : rawKey(jobId);
  }

  async function rawKey(jobId: string): Promise<Uint8Array | undefined> {
    const answer = await operator.nc.request(`$JS.API.DIRECT.GET.KV_KEYS.$KV.KEYS.job.${jobId}`, '', { timeout: ERASED_LIMIT_MS });
    return answer.data.length === 0 ? undefined : answer.data;
  }

  async function findBytes(wanted: readonly Buffer[]): Promise<readonly string[]> {
    const places: string[] = [];
    for (const path of await filesIn(join(service.dataDir, 'nats'))) {
      const bytes = await readFile(path).catch(() => Buffer.alloc(0));
      if (wanted.some((part) => bytes.includes(part))) places.push(path);
    }
    return places;
  }
});

/** Of a link of our own, or of one of an S3 store. */
function signatureOf(url: string): string {
  const { searchParams } = new URL(url);
  const signature = searchParams.get('signature') ?? searchParams.get('X-Amz-Signature');
  if (signature === null) throw new Error('the link is not signed');
  return signature;
}

function tasks(input_format = 'webp'): Record<string, unknown> {
  return {
    [`${MARKER}-in`]: { operation: 'import/upload' },
    [`${MARKER}-convert`]: { operation: 'convert', input: `${MARKER}-in`, input_format, output_format: 'png', options: { background: COLOUR } },
    [`${MARKER}-out`]: { operation: 'export/url', input: `${MARKER}-convert` },
  };
}
