import { expect } from 'chai';
import { waitFor } from '../../../services/standalone/processes.ts';
import type { JobView } from '../../../shared/domain/job-view.ts';
import { requireCleanAudit } from '../../support/books.ts';
import { resultUrlOf, tasksOf, TestClient, type ErrorBody } from '../../support/client.ts';
import { makeLargePhoto, MultipartUpload, outcome } from '../../support/multipart.ts';
import { openApiCheck } from '../../support/openapi-check.ts';
import { makeDot, readPicture } from '../../support/pictures.ts';
import { startService, type TestService } from '../../support/service.ts';
import { hasFiles, openStoreOf, openUploadsOf, requireRefused } from '../../support/stored-files.ts';

const PART_BYTES = 26_214_400;
/** Lower than the file of the test, so that it is over the limit after the restart. */
const LOWERED_BYTES_MAX = 200;
const OVER_LIMIT_MS = 30_000;

describe('A file in parts on its way through the API (§4.4)', function () {
  this.timeout(240_000);
  let service: TestService;
  let client: TestClient;

  const open = async (settings: Readonly<Record<string, string>>, dataDir?: string): Promise<void> => {
    service = await startService({ settings: { LOG_LEVEL: 'warn', ...settings }, ...(dataDir === undefined ? {} : { dataDir }) });
    client = new TestClient(service.baseUrl, service.liveKey, await openApiCheck(service.baseUrl));
  };
  afterEach(() => service.stop());


  async function createUpload(): Promise<{ job: JobView; upload: MultipartUpload }> {
    const job = await client.createJob(tasksOf('jpg', 'png'));
    return { job, upload: new MultipartUpload(client, job) };
  }

  it('a large photograph is sent in parts of any order, side by side, and converted (§3, §3.8)', async () => {
    await open({});
    const photo = await makeLargePhoto();
    const job = await client.createJob(tasksOf('tiff', 'jpg', { width: 350 }));
    const upload = new MultipartUpload(client, job);
    const { body } = await upload.start(photo.length);
    expect(body).to.include({ part_size: PART_BYTES, parts_expected: 2 });
    const [last, first] = await Promise.all([upload.put(2, photo.subarray(PART_BYTES)), upload.put(1, photo.subarray(0, PART_BYTES))]);
    expect((await upload.complete([first, last])).body).to.deep.equal({ size_bytes: photo.length });
    const finished = await client.waitForStatus(job.id, 'finished', 'error');
    expect(finished).to.include({ status: 'finished', credits_used: 1 });
    expect(readPicture((await client.send('GET', resultUrlOf(finished))).bytes)).to.deep.equal({ format: 'jpg', width: 350, height: 260 });
    expect(await openUploadsOf(service, job.id)).to.deep.equal([]);
    await requireCleanAudit(service);
  });

  it('a file over a limit that was lowered meanwhile ends the job with 413, and nothing is charged (§3, §3.9, §4.4, §7 file_too_large 413, D43)', async () => {
    await open({});
    const { job, upload } = await createUpload();
    const file = await makeDot();
    expect(file.length).to.be.greaterThan(LOWERED_BYTES_MAX);
    const parts = await upload.send(file);
    const { dataDir } = service;
    await service.end();
    await open({ MAX_INPUT_BYTES: String(LOWERED_BYTES_MAX) }, dataDir);
    const lowered = new MultipartUpload(client, job);
    // At once, and again because the answer may have been lost.
    for (const answer of [...(await Promise.all([lowered.complete(parts), lowered.complete(parts)])), await lowered.complete(parts)]) expect(outcome(answer)).to.deep.equal([413, 'file_too_large', { max_bytes: LOWERED_BYTES_MAX }]);
    const failed = await client.readJob(job.id);
    expect(failed).to.include({ status: 'error', credits_used: 0 });
    expect(failed.error).to.deep.include({ code: 'file_too_large', details: { max_bytes: LOWERED_BYTES_MAX } });
    await waitFor('the parts to go', OVER_LIMIT_MS, async () => (await openUploadsOf(service, job.id)).length === 0 || undefined);
    await requireCleanAudit(service);
  });

  it('keeps to its times: part URLs die, a start outlives the single upload URL, the window ends all (§4.5, §8, §8 upload url validity, D40)', async () => {
    await open({ PART_URL_TTL_SECONDS: '2', UPLOAD_URL_TTL_SECONDS: '1', UPLOAD_WINDOW_SECONDS: '9' });
    const { job, upload } = await createUpload();
    await waitFor('the end of the single upload URL', OVER_LIMIT_MS, () => Date.now() > Date.parse(job.created_at) + 1_000 || undefined);
    expect((await client.upload(job, Buffer.from('x'))).status).to.equal(403);
    expect((await upload.start(3)).status).to.equal(201);
    const url = await upload.url(1);
    await waitFor('the end of the part URL', OVER_LIMIT_MS, async () => {
      const answer = await client.send<ErrorBody>('PUT', url, { body: 'abc' });
      if (answer.status === 200) return undefined;
      requireRefused(answer, { status: 403, error: { code: 'unauthorized', details: { reason: 'url_expired' } } });
      return true;
    });
    const deadlineMs = Date.parse(job.created_at) + 9_000;
    await waitFor('a URL that would outlive the window', OVER_LIMIT_MS, async () => {
      const answer = await upload.urls([1]);
      if (answer.status !== 200) throw new Error(`too late: ${answer.status}`);
      const [part] = answer.body.parts;
      expect(Date.parse(part?.expires_at ?? '')).to.be.at.most(deadlineMs);
      return Date.parse(part?.expires_at ?? '') === deadlineMs || undefined;
    });
    const part = await upload.put(1, Buffer.from('abc'));
    expect(await openUploadsOf(service, job.id)).to.have.length(1);
    expect((await client.waitForStatus(job.id, 'expired')).credits_used).to.equal(0);
    for (const answer of [await upload.start(3), await upload.urls([1]), await upload.complete([part])]) {
      expect(outcome(answer)).to.deep.equal([409, 'validation_failed', { reason: 'already_terminal', status: 'expired' }]);
    }
    await waitFor('the parts to go', OVER_LIMIT_MS, async () => (await openUploadsOf(service, job.id)).length === 0 || undefined);
  });

  it('leaves no parts behind when the job is cancelled or deleted (§4.3)', async () => {
    await open({});
    for (const [method, suffix] of [['POST', '/cancel'], ['DELETE', '']] as const) {
      const { job, upload } = await createUpload();
      await upload.start(3);
      await upload.put(1, Buffer.from('abc'));
      await client.send(method, `/v1/jobs/${job.id}${suffix}`);
      await waitFor('the parts to go', OVER_LIMIT_MS, async () => (await openUploadsOf(service, job.id)).length === 0 || undefined);
      expect(await hasFiles(await openStoreOf(service), job.id)).to.equal(false);
    }
  });
});
