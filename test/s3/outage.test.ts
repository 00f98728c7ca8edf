import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { waitFor } from '../../services/standalone/processes.ts';
import { requireCleanAudit } from '../support/books.ts';
import { s3Service, type S3Service } from '../support/ceph/s3-service.ts';
import { resultUrlOf, tasksOf, TestClient, type ErrorBody } from '../support/client.ts';
import { fixturePath } from '../support/fixtures.ts';
import { readLog, typesByJob } from '../support/log-reading.ts';
import { MultipartUpload } from '../support/multipart.ts';
import { openApiCheck } from '../support/openapi-check.ts';
import { stateOf } from '../support/process-tree.ts';

/** Waits grow to five seconds while the store is away. */
const BACK_LIMIT_MS = 60_000;
/** A client that asks for a job does not wait for the store for longer. */
const READ_MS_MAX = 8_000;

describe('The service while its S3 store is away', function () {
  this.timeout(240_000);
  let s3: S3Service;
  let client: TestClient;
  let photo: Buffer;

  before(async () => {
    s3 = await s3Service();
    const organization = await s3.operator.newOrganization(200);
    client = new TestClient(s3.service.baseUrl, (await organization.newKey('live')).secret, await openApiCheck(s3.service.baseUrl));
    photo = await readFile(fixturePath('IMG_1054.JPG'));
  });
  afterEach(() => s3.service.untilReady());

  const balance = async (): Promise<number> => (await client.send<{ credits: { balance: number } }>('GET', '/v1/me')).body.credits.balance;

  function requireUnavailable({ status, headers, body }: Awaited<ReturnType<typeof client.send<ErrorBody>>>): void {
    expect([status, body.error.code, body.error.details]).to.deep.equal([503, 'internal', { retryable: true, reason: 'storage_unavailable' }]);
    expect(Number(headers.get('retry-after'))).to.be.greaterThan(0);
  }

  it('answers 503 with Retry-After to what needs the store, and the rest as ever (§7)', async () => {
    const before = await balance();
    const waiting = await client.createJob(tasksOf('jpg', 'webp'));
    const upload = new MultipartUpload(client, waiting);
    await upload.start(photo.length);
    const part = await upload.put(1, photo);
    await s3.ceph.killGateway();
    try {
      await waitFor('the outage being noticed', BACK_LIMIT_MS, async () => ((await client.send('GET', '/readyz')).status === 503 ? true : undefined));
      const { body } = await client.send<{ dependencies: Record<string, string> }>('GET', '/readyz');
      expect(body.dependencies).to.include({ storage: 'away', nats: 'ok' });
      // What was seen of the store a moment ago may still count.
      let taken = 0;
      requireUnavailable(await waitFor('a refusal', BACK_LIMIT_MS, async () => {
        const answer = await client.send<ErrorBody>('POST', '/v1/jobs', { json: { tasks: tasksOf('jpg', 'webp') } });
        if (answer.status === 201) taken += 1;
        return answer.status === 201 ? undefined : answer;
      }));
      requireUnavailable(await upload.complete([part]));
      requireUnavailable(await upload.urls([1]));
      expect(await balance(), 'nothing was held for what was refused').to.equal(before - 1 - taken);
      const begunMs = performance.now();
      expect((await client.readJob(waiting.id)).status).to.equal('waiting');
      expect(performance.now() - begunMs).to.be.lessThan(READ_MS_MAX);
    } finally {
      await s3.ceph.startGateway();
    }
    await s3.service.untilReady();
    const completed = await upload.complete([part]);
    expect([completed.status, completed.body]).to.deep.equal([200, { size_bytes: photo.length }]);
    expect((await client.waitForStatus(waiting.id, 'finished', 'error')).status).to.equal('finished');
  });

  it('keeps nobody waiting for a store that stands still', async () => {
    const waiting = await client.createJob(tasksOf('jpg', 'webp'));
    const resume = s3.ceph.freezeGateway();
    try {
      const begunMs = performance.now();
      expect((await client.readJob(waiting.id)).status).to.equal('waiting');
      expect(performance.now() - begunMs).to.be.lessThan(READ_MS_MAX);
      await waitFor('a refusal', BACK_LIMIT_MS, async () => ((await client.send('POST', '/v1/jobs', { json: { tasks: tasksOf('jpg', 'webp') } })).status === 503 ? true : undefined));
      expect((await client.send('GET', '/readyz')).status).to.equal(503);
    } finally {
      resume();
    }
    await s3.service.untilReady();
    await client.upload(waiting, photo);
    expect((await client.waitForStatus(waiting.id, 'finished', 'error')).status).to.equal('finished');
  });

  it('keeps a conversion waiting for the store, and charges it once', async () => {
    const before = await balance();
    const job = await client.createJob(tasksOf('jpg', 'webp', { width: 64 }));
    const converter = s3.service.pidOf('converter');
    if (converter === undefined) throw new Error('the converter is not running');
    process.kill(converter, 'SIGSTOP');
    try {
      await waitFor('the converter to stand still', BACK_LIMIT_MS, () => stateOf(converter).startsWith('T') || undefined);
      await client.upload(job, photo);
      await client.waitForStatus(job.id, 'queued');
      await s3.ceph.killGateway();
    } finally {
      process.kill(converter, 'SIGCONT');
    }
    try {
      await client.waitForStatus(job.id, 'processing', 'error', 'finished');
      expect((await client.send<{ status: string }>('GET', `/v1/jobs/${job.id}?wait=5`)).body.status).to.equal('processing');
    } finally {
      await s3.ceph.startGateway();
    }
    const finished = await client.waitForStatus(job.id, 'finished', 'error');
    expect(finished, JSON.stringify(finished.error)).to.include({ status: 'finished', credits_used: 1 });
    expect((await client.send('GET', resultUrlOf(finished))).status).to.equal(200);
    expect(await balance()).to.equal(before - 1);
    const types = typesByJob(await readLog(s3.operator.nc, 'JOBS')).get(job.id) ?? [];
    expect(types.filter((type) => type === 'job.conversion_started'), 'attempts').to.have.length(1);
    await requireCleanAudit(s3.service);
  });
});
