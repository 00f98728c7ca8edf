import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { TransientError } from '../../../shared/errors/errors.ts';
import { newId } from '../../../shared/ids/ids.ts';
import { isImporterReady, requestObserve } from '../../../shared/importer-client/importer-client.ts';
import { observeReply } from '../../../shared/importer-client/messages.ts';
import { sourceKey } from '../../../shared/objects/keys.ts';
import { expectFailure } from '../../support/expect-failure.ts';
import { ImporterBench, png, UPLOAD_BYTES_MAX } from '../../support/importer-bench.ts';

const TIMEOUT_MS = 5_000;

describe('looking for the file of a job', function () {
  this.timeout(60_000);
  let bench: ImporterBench;

  before(async () => {
    bench = await ImporterBench.start();
  });
  after(() => bench.stop());

  const observe = (jobId: string): Promise<string> => requestObserve(bench.nc, jobId, TIMEOUT_MS);

  describe('while no importer runs', () => {
    it('fails as a dependency that is away', async () => {
      const error = await expectFailure(observe(newId(Date.now())), TransientError);
      expect(error.dependency).to.equal('importer');
      expect(await isImporterReady(bench.nc)).to.equal(false);
    });
  });

  describe('with two importers', () => {
    before(async () => {
      await bench.startImporter();
      await bench.startImporter();
    });
    after(() => bench.stopImporters());

    it('says that an importer is there', async () => {
      expect(await isImporterReady(bench.nc)).to.equal(true);
    });

    it('binds the file once though many ask at once, and to what it is (D32)', async () => {
      const jobId = await bench.createJob();
      const bytes = png(300_000);
      await bench.upload(jobId, bytes);
      const answers = await Promise.all(Array.from({ length: 60 }, () => observe(jobId)));
      expect(new Set(answers)).to.include('observed');
      expect([...new Set(answers)]).to.have.members(answers.includes('not_waiting') ? ['observed', 'not_waiting'] : ['observed']);
      const [start, received, ...rest] = await bench.events(jobId);
      expect(rest).to.deep.equal([]);
      expect(received?.event).to.deep.equal({
        type: 'job.source_received',
        data: { size_bytes: 300_000, sha256: createHash('sha256').update(bytes).digest('hex'), etag: createHash('md5').update(bytes).digest('hex') },
      });
      expect(received?.envelope).to.include({ actor: 'service:importer', causationid: start?.envelope.id, correlationid: start?.envelope.correlationid, tenant: start?.envelope.tenant });
    });

    it('finds nothing before the upload and the file after it', async () => {
      const jobId = await bench.createJob();
      expect(await observe(jobId)).to.equal('absent');
      expect(await bench.eventTypes(jobId)).to.deep.equal(['job.created']);
      await bench.upload(jobId);
      expect(await observe(jobId)).to.equal('observed');
      expect(await observe(jobId)).to.equal('not_waiting');
    });

    it('never answers with a look that began before the upload was through', async () => {
      for (let round = 0; round < 20; round += 1) {
        const jobId = await bench.createJob();
        const early = Array.from({ length: 8 }, () => observe(jobId));
        await bench.upload(jobId);
        expect(await observe(jobId), `round ${round}`).not.to.equal('absent');
        await Promise.all(early);
        expect(await bench.eventTypes(jobId)).to.deep.equal(['job.created', 'job.source_received']);
      }
    });

    const REFUSALS: readonly (readonly [string, Buffer, object])[] = [
      ['an empty file', Buffer.alloc(0), { code: 'internal', reason: 'system_error', cause: 'empty_file' }],
      ['a file of another format', Buffer.from('%PDF-1.7 and so on'), { code: 'internal', reason: 'system_error', cause: 'not_what_it_claims' }],
      ['a file that is cut before its format shows', Buffer.from('\x89PN', 'latin1'), { code: 'internal', reason: 'system_error', cause: 'not_what_it_claims' }],
      ['a file over the limit of a single upload (D91)', png(UPLOAD_BYTES_MAX + 1), { code: 'file_too_large', max_bytes: UPLOAD_BYTES_MAX }],
    ];
    for (const [name, bytes, error] of REFUSALS) {
      it(`ends a job with ${name}, and removes the file`, async () => {
        const jobId = await bench.createJob();
        await bench.upload(jobId, bytes);
        const answers = await Promise.all([observe(jobId), observe(jobId), observe(jobId)]);
        expect(answers).to.include('refused');
        const events = await bench.events(jobId);
        expect(events.slice(1).map((stored) => stored.event)).to.deep.equal([{ type: 'job.failed', data: { error } }]);
        await bench.waitUntil('the removal of the file', async () => (await bench.objectsOf(jobId)).length === 0);
      });
    }

    it('takes a file of exactly the limit', async () => {
      const jobId = await bench.createJob();
      await bench.upload(jobId, png(UPLOAD_BYTES_MAX));
      expect(await observe(jobId)).to.equal('observed');
    });

    it('leaves alone a job that waits for no upload', async () => {
      const byUrl = await bench.createJob(undefined, { import: 'url' });
      const cancelled = await bench.command(await bench.createJob(), { type: 'cancel' });
      const deleted = await bench.command(await bench.createJob(), { type: 'delete' });
      for (const jobId of [byUrl, cancelled, deleted]) {
        await bench.upload(jobId);
        const before = await bench.eventTypes(jobId);
        expect(await observe(jobId)).to.equal('not_waiting');
        expect(await bench.eventTypes(jobId)).to.deep.equal(before);
      }
      expect(await observe(newId(Date.now()))).to.equal('not_waiting');
    });

    it('finds a file without anybody asking (§3.7, D32)', async () => {
      const jobId = await bench.createJob();
      await bench.upload(jobId);
      await bench.waitForStatus(jobId, 'queued');
    });

    it('goes on looking when the file comes late', async () => {
      const jobId = await bench.createJob();
      await bench.waitUntil('the first look', async () => (await bench.lastTimer(`timer.due.upload_check.${jobId}`)) !== undefined);
      await bench.waitUntil('the next look to be set', async () => (await bench.lastTimer(`timer.scheduled.upload_check.${jobId}`)) !== undefined);
      await bench.upload(jobId);
      await bench.waitForStatus(jobId, 'queued');
    });

    it('refuses a request that it cannot read', async () => {
      for (const body of ['', '{', '{"job_id":"*"}', '{"job_id":">"}']) {
        const message = await bench.nc.request('importer.observe', body, { timeout: TIMEOUT_MS });
        expect(observeReply.parse(JSON.parse(message.string())), body).to.deep.equal({ ok: false, code: 'bad_request' });
      }
    });
  });

  describe('when the upload window is over by the clock', () => {
    after(() => bench.stopImporters());

    it('does not bring the job back, whatever lies in the store (D40)', async () => {
      const jobId = await bench.createJob(1_000);
      await bench.upload(jobId);
      await bench.startImporter({ clock: { nowMs: () => Date.now() + 10_000 } });
      expect(await observe(jobId)).to.equal('not_waiting');
      await bench.waitForStatus(jobId, 'expired');
      expect(await bench.eventTypes(jobId)).to.deep.equal(['job.created', 'job.expired']);
      await bench.waitUntil('the removal of the file', async () => (await bench.objects.head(sourceKey(jobId))) === undefined);
    });
  });
});
