import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { resultUrlOf as signResult } from '../../../shared/objects/result-url.ts';
import { fold } from '../../../shared/domain/decider.ts';
import { FORMAT_NAMES } from '../../../shared/domain/catalogue/formats.ts';
import { jobDecider } from '../../../shared/domain/job.ts';
import { openDiskStore } from '../../../shared/objects/disk/disk-store.ts';
import { openMasterKey } from '../../../shared/privacy/master-key.ts';
import { resultUrlOf, tasksOf, TestClient, uploadUrlOf, type ErrorBody } from '../../support/client.ts';
import { conversionStarted, created, finished, sourceReceived } from '../../support/job-events.ts';
import { MultipartUpload, outcome } from '../../support/multipart.ts';
import { openOperator, type TestOperator } from '../../support/organization.ts';
import { makeDot } from '../../support/pictures.ts';
import { startSecondApi, type SecondApi } from '../../support/second-api.ts';
import { sharedService, type TestService } from '../../support/service.ts';

/** 100 MB, as an api that is told nothing else has it; the shared service takes less. */
const SINGLE_BYTES_MAX = 104_857_600;
/** What a browser could run. */
const SAVED: ReadonlySet<string> = new Set(['html', 'pdf', 'svg']);
const JOB_ID = '0190a000-0000-7000-8000-000000000009';

describe('Links of files (D92)', function () {
  this.timeout(120_000);

  it('have a browser save what it could run, and show the rest (D92)', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'test-links-'));
    try {
      const objects = await openDiskStore({ folder, publicUrl: 'http://127.0.0.1', masterKey: openMasterKey(Buffer.alloc(32).toString('base64')) });
      for (const format of FORMAT_NAMES) {
        const job = fold(jobDecider, [created({ output_format: format }), sourceReceived, conversionStarted(), finished()]);
        if (job.kind !== 'live') throw new Error('the job is not there');
        const { searchParams } = new URL((await signResult(objects, JOB_ID, job)) ?? '');
        expect(searchParams.get('disposition'), format).to.equal(`${SAVED.has(format) ? 'attachment' : 'inline'}; filename="${JOB_ID}.${format}"`);
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  describe('with FILES_PUBLIC_URL', () => {
    let service: TestService;
    let operator: TestOperator;
    let second: SecondApi;
    let filesUrl: string;
    let client: TestClient;

    before(async () => {
      service = await sharedService();
      operator = await openOperator(service);
      filesUrl = service.baseUrl.replace('127.0.0.1', 'localhost');
      second = await startSecondApi(service, { FILES_PUBLIC_URL: `${filesUrl}/` });
      client = new TestClient(second.baseUrl, (await (await operator.newOrganization(5)).newKey('live')).secret);
    });
    after(async () => {
      await second.stop();
      await operator.stop();
    });

    it('lead to that host, for uploads, parts and downloads, and work there (D92)', async () => {
      const job = await client.createJob(tasksOf('jpg', 'png'));
      const upload = new MultipartUpload(client, job);
      await upload.start(5);
      const links = [uploadUrlOf(job), await upload.url(1)];
      expect((await client.upload(job, await makeDot())).status).to.equal(200);
      const finishedJob = await client.waitForStatus(job.id, 'finished', 'error');
      links.push(resultUrlOf(finishedJob));
      expect(links.map((link) => new URL(link).origin)).to.deep.equal([filesUrl, filesUrl, filesUrl]);
      const download = await client.send('GET', resultUrlOf(finishedJob));
      expect([download.status, download.headers.get('content-type')]).to.deep.equal([200, 'image/png']);
    });

    it('take 100 MB in one upload, and not a byte more (§8 single upload, §7 file_too_large 413, D42, D91)', async () => {
      const job = await client.createJob(tasksOf('jpg', 'png'));
      const over = await client.send<ErrorBody>('PUT', uploadUrlOf(job), { body: Buffer.alloc(SINGLE_BYTES_MAX + 1) });
      expect(outcome(over)).to.deep.equal([413, 'file_too_large', { max_bytes: SINGLE_BYTES_MAX }]);
      expect((await client.readJob(job.id)).status).to.equal('waiting');
      // It begins as a jpg does: a file that is none may end the job before the answer is on its way.
      const exact = Buffer.alloc(SINGLE_BYTES_MAX);
      exact.set([0xff, 0xd8, 0xff, 0xe0]);
      expect((await client.upload(job, exact)).status).to.equal(200);
    });

    it('are described there, and the API where it was (§9.6, D92)', async () => {
      type Document = { readonly servers: readonly object[]; readonly paths: Readonly<Record<string, { readonly servers?: readonly object[] } & Readonly<Record<string, { readonly servers?: readonly object[] }>>>> };
      const { body } = await client.send<Document>('GET', '/v1/openapi.json');
      expect(body.servers).to.deep.equal([{ url: `${service.baseUrl}/v1` }]);
      const route = body.paths['/files/source/{job_id}'];
      expect(route?.['put']?.servers ?? route?.servers).to.deep.equal([{ url: filesUrl }]);
    });
  });
});
