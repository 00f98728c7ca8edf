import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { TransientError } from '../../../shared/errors/errors.ts';
import { composeEtag } from '../../../shared/objects/composed-etag.ts';
import { sourceKey } from '../../../shared/objects/keys.ts';
import type { NamedPart, ObjectStore } from '../../../shared/objects/object-store.ts';
import { requestObserve } from '../../../shared/importer-client/importer-client.ts';
import { ImporterBench, png, UPLOAD_BYTES_MAX } from '../../support/importer-bench.ts';

const PART_BYTES = 1000;
const LIMIT_MS = 10_000;
const DAY_MS = 24 * 3_600_000;
const SOURCE_DAMAGED = { code: 'internal', reason: 'system_error', cause: 'source_damaged' };

describe('a file that was uploaded in parts', function () {
  this.timeout(60_000);
  let bench: ImporterBench;

  before(async () => {
    bench = await ImporterBench.start();
    await bench.startImporter();
    await bench.startImporter();
  });
  after(() => bench.stop());

  /** A job whose upload in parts is open, with a file of this size in the store as one part. */
  async function withPart(sizeBytes: number, bytes = png(sizeBytes)): Promise<{ jobId: string; parts: readonly NamedPart[] }> {
    const jobId = await bench.createJob();
    await bench.command(jobId, { type: 'start_multipart', plan: { size_bytes: sizeBytes, part_size: PART_BYTES, parts_expected: 1 } });
    const key = sourceKey(jobId);
    const part = await bench.objects.writePart(key, await bench.objects.openMultipart(key), { partNumber: 1, sizeBytes }, Readable.from([bytes]));
    return { jobId, parts: [part] };
  }

  const assemble = (jobId: string, parts: readonly NamedPart[]) => bench.objects.completeMultipart(sourceKey(jobId), parts);
  const openUploads = (): Promise<readonly string[]> => readdir(join(bench.folder, 'objects/multipart'));

  it('is bound as soon as the log says that it is complete, without anybody asking (§3)', async () => {
    const { jobId, parts } = await withPart(PART_BYTES);
    await bench.command(jobId, { type: 'complete_multipart', file: await assemble(jobId, parts) });
    await bench.waitForStatus(jobId, 'queued');
    const events = await bench.events(jobId);
    expect(events.at(-1)?.event.data).to.include({ size_bytes: PART_BYTES, etag: composeEtag(parts) });
  });

  it('may be larger than a single upload, up to the limit of all input (§8)', async () => {
    const { jobId, parts } = await withPart(2 * UPLOAD_BYTES_MAX);
    await bench.command(jobId, { type: 'complete_multipart', file: await assemble(jobId, parts) });
    await bench.waitForStatus(jobId, 'queued');
    const { jobId: other, parts: more } = await withPart(2 * UPLOAD_BYTES_MAX + 1);
    await bench.command(other, { type: 'complete_multipart', file: await assemble(other, more) });
    await bench.waitForStatus(other, 'error');
    expect((await bench.events(other)).at(-1)?.event.data).to.deep.include({ error: { code: 'file_too_large', max_bytes: 2 * UPLOAD_BYTES_MAX } });
  });

  it('is announced by the importer when whoever assembled it died before (D45)', async () => {
    const { jobId, parts } = await withPart(PART_BYTES);
    const head = await assemble(jobId, parts);
    await requestObserve(bench.nc, jobId, LIMIT_MS);
    await bench.waitForStatus(jobId, 'queued');
    expect(await bench.eventTypes(jobId)).to.deep.equal(['job.created', 'job.multipart_started', 'job.multipart_completed', 'job.source_received']);
    expect((await bench.events(jobId))[2]?.event.data).to.deep.equal(head);
  });

  it('is announced before it is refused, so that its client still hears that it was complete (D45)', async () => {
    const { jobId, parts } = await withPart(PART_BYTES, Buffer.alloc(PART_BYTES));
    await assemble(jobId, parts);
    await requestObserve(bench.nc, jobId, LIMIT_MS);
    await bench.waitForStatus(jobId, 'error');
    expect(await bench.eventTypes(jobId)).to.deep.equal(['job.created', 'job.multipart_started', 'job.multipart_completed', 'job.failed']);
  });

  it('is none when its upload was discarded (§4.4)', async () => {
    const { jobId, parts } = await withPart(PART_BYTES);
    await assemble(jobId, parts);
    await bench.command(jobId, { type: 'abort_multipart' });
    expect(await requestObserve(bench.nc, jobId, LIMIT_MS)).to.equal('absent');
    expect(await bench.eventTypes(jobId)).to.deep.equal(['job.created', 'job.multipart_started', 'job.multipart_aborted']);
  });

  it('ends its job when the store has lost it', async () => {
    const { jobId, parts } = await withPart(PART_BYTES);
    await bench.command(jobId, { type: 'complete_multipart', file: { size_bytes: PART_BYTES, etag: composeEtag(parts) } });
    await bench.waitForStatus(jobId, 'error');
    expect((await bench.events(jobId)).at(-1)?.event.data).to.deep.equal({ error: { code: 'internal', reason: 'system_error', cause: 'source_missing' } });
  });

  for (const way of ['in parts', 'at once'] as const) {
    it(`ends its job when it was uploaded ${way} and is damaged, so that no credits stay held (§3)`, async () => {
      const { jobId, parts } = way === 'in parts' ? await withPart(PART_BYTES) : { jobId: await bench.createJob(), parts: [] };
      await writeFile(join(bench.folder, 'objects', sourceKey(jobId)), png(PART_BYTES));
      if (way === 'in parts') await bench.command(jobId, { type: 'complete_multipart', file: { size_bytes: PART_BYTES, etag: composeEtag(parts) } });
      else expect(await requestObserve(bench.nc, jobId, LIMIT_MS)).to.equal('refused');
      await bench.waitForStatus(jobId, 'error');
      expect((await bench.events(jobId)).at(-1)?.event.data).to.deep.equal({ error: SOURCE_DAMAGED });
    });
  }

  it('ends its job a day after the window when it can never be read (§3)', async () => {
    await bench.stopImporters();
    const jobId = await bench.createJob(500);
    await bench.command(jobId, { type: 'start_multipart', plan: { size_bytes: PART_BYTES, part_size: PART_BYTES, parts_expected: 1 } });
    await bench.command(jobId, { type: 'complete_multipart', file: { size_bytes: PART_BYTES, etag: `${'e'.repeat(32)}-1` } });
    const objects = Object.create(bench.objects, { head: { value: () => Promise.reject(new TransientError('storage', 'cannot be read')) } }) as ObjectStore;
    await bench.startImporter({ objects, clock: { nowMs: () => Date.now() + DAY_MS } });
    await bench.waitForStatus(jobId, 'error');
    expect((await bench.events(jobId)).at(-1)?.event.data).to.deep.equal({ error: SOURCE_DAMAGED });
    await bench.stopImporters();
    await bench.startImporter();
  });

  it('does not expire once it is complete, however long nobody looks at it', async () => {
    await bench.stopImporters();
    const windowMs = 1_500;
    const jobId = await bench.createJob(windowMs);
    await bench.command(jobId, { type: 'start_multipart', plan: { size_bytes: PART_BYTES, part_size: PART_BYTES, parts_expected: 1 } });
    const key = sourceKey(jobId);
    const part = await bench.objects.writePart(key, await bench.objects.openMultipart(key), { partNumber: 1, sizeBytes: PART_BYTES }, Readable.from([png(PART_BYTES)]));
    await bench.command(jobId, { type: 'complete_multipart', file: await assemble(jobId, [part]) });
    const deadlineMs = Date.now() + windowMs;
    await bench.waitUntil('the end of the window', () => Promise.resolve(Date.now() > deadlineMs));
    await bench.startImporter();
    await bench.waitForStatus(jobId, 'queued');
  });

  it('makes way for a single upload that was whole first, and its parts go (D46)', async () => {
    const { jobId } = await withPart(PART_BYTES);
    await bench.upload(jobId);
    await requestObserve(bench.nc, jobId, LIMIT_MS);
    await bench.waitForStatus(jobId, 'queued');
    await bench.waitUntil('its parts to go', async () => !(await openUploads()).includes(jobId));
  });

  for (const end of ['cancel', 'delete'] as const) {
    it(`leaves no parts when its job ends by ${end} before they were assembled`, async () => {
      const { jobId } = await withPart(PART_BYTES);
      expect(await openUploads()).to.include(jobId);
      await bench.command(jobId, { type: end });
      await bench.waitUntil('its parts to go', async () => !(await openUploads()).includes(jobId));
    });
  }
});
