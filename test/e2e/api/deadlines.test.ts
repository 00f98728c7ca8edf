import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { JobView } from '../../../shared/domain/job-view.ts';
import { waitFor } from '../../../services/standalone/processes.ts';
import { resultUrlOf, tasksOf, TestClient, uploadUrlOf, type ErrorBody } from '../../support/client.ts';
import { fixturePath } from '../../support/fixtures.ts';
import { openApiCheck } from '../../support/openapi-check.ts';
import { startService, type TestService } from '../../support/service.ts';
import { requireRefused } from '../../support/stored-files.ts';

type List = { readonly data: readonly JobView[] };

/** A conversion of a small picture fits into it, also on a busy machine. */
const RESULT_TTL_SECONDS = 5;
const UPLOAD_URL_TTL_SECONDS = 2;
const OVER_LIMIT_MS = 15_000;

describe('Deadlines as clients see them', function () {
  this.timeout(180_000);
  let service: TestService;
  let client: TestClient;

  before(async () => {
    service = await startService({ settings: { LOG_LEVEL: 'warn', UPLOAD_URL_TTL_SECONDS: String(UPLOAD_URL_TTL_SECONDS), UPLOAD_WINDOW_SECONDS: '6', RESULT_TTL_SECONDS: String(RESULT_TTL_SECONDS) } });
    client = new TestClient(service.baseUrl, service.liveKey, await openApiCheck(service.baseUrl));
  });
  after(() => service.stop());

  it('end the upload URL by 403 while the job still waits (§4.5, §8 upload url validity, D40, D46)', async () => {
    const job = await client.createJob(tasksOf('jpg', 'png'));
    const url = uploadUrlOf(job);
    await waitFor('the end of the upload URL', OVER_LIMIT_MS, () => Date.now() > Date.parse(job.created_at) + UPLOAD_URL_TTL_SECONDS * 1000 || undefined);
    requireRefused(await client.send('PUT', url, { body: 'x' }), { status: 403, error: { code: 'unauthorized', details: { reason: 'url_expired' } } });
    expect((await client.readJob(job.id)).status).to.equal('waiting');
  });

  it('expire a job whose file never came, with nothing charged (§3.5, §3.13, D8)', async () => {
    const job = await client.createJob(tasksOf('jpg', 'png'));
    const expired = await client.waitForStatus(job.id, 'expired');
    expect(expired).to.include({ status: 'expired', credits_used: 0 });
    expect(expired.tasks?.map(({ status }) => status)).to.deep.equal(['expired', 'expired', 'expired']);
    expect(Date.now()).to.be.at.least(Date.parse(job.created_at) + 6_000);
    const cancel = await client.send<ErrorBody>('POST', `/v1/jobs/${job.id}/cancel`);
    expect([cancel.status, cancel.body.error.details]).to.deep.equal([409, { reason: 'already_terminal', status: 'expired' }]);
    expect((await client.send<List>('GET', '/v1/jobs?status=expired')).body.data.map(({ id }) => id)).to.include(job.id);
  });

  it('end a result for reads, lists and downloads in the same moment (§3.12, D8, D14, D19)', async () => {
    const job = await client.convert(await readFile(fixturePath('IMG_1054.JPG')), tasksOf('jpg', 'webp', { width: 16 }));
    const url = resultUrlOf(job);
    expect((await client.send('GET', url)).status).to.equal(200);
    await waitFor('the end of the result', OVER_LIMIT_MS, () => Date.now() > Date.parse(job.expires_at) || undefined);
    requireRefused(await client.send('GET', url), { status: 404 });
    const expired = await client.readJob(job.id);
    expect(expired).to.include({ status: 'expired', credits_used: 1, expires_at: job.expires_at });
    expect(expired.tasks?.map(({ status }) => status)).to.deep.equal(['finished', 'finished', 'expired']);
    expect(expired.tasks?.[2]).not.to.have.property('result');
    expect((await client.send<List>('GET', '/v1/jobs?status=finished')).body.data).to.deep.equal([]);
  });
});
