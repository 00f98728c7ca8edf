import { expect } from 'chai';
import { DAMAGED } from '../../support/job-events.ts';
import { resultKey, sourceKey } from '../../../shared/objects/keys.ts';
import { jobKeyName } from '../../../shared/privacy/data-keys.ts';
import { ImporterBench, png } from '../../support/importer-bench.ts';

/** How much later these tests clean once more; long enough for a straggler to come in between. */
const CLEAN_AGAIN_MS = 3_000;

describe('cleaning up behind a job', function () {
  this.timeout(60_000);
  let bench: ImporterBench;

  before(async () => {
    bench = await ImporterBench.start();
    await bench.startImporter({ cleanAgainMs: CLEAN_AGAIN_MS });
    await bench.startImporter({ cleanAgainMs: CLEAN_AGAIN_MS });
  });
  after(() => bench.stop());

  const leaves = (jobId: string, keys: readonly string[]): Promise<void> =>
    bench.waitUntil(`only ${keys.length} objects to be left`, async () => JSON.stringify(await bench.objectsOf(jobId)) === JSON.stringify(keys));

  /** A job being converted in its second attempt, with what both attempts stored. */
  const converted = async (): Promise<string> => {
    const jobId = await bench.createProcessingJob();
    await bench.command(jobId, { type: 'start_conversion', attempt: 2, engine: 'image', engine_version: '1.2.3' });
    await bench.put(resultKey(jobId, 1), png(100));
    await bench.put(resultKey(jobId, 2), png(100));
    return jobId;
  };

  it('keeps the result that finished it, and nothing else', async () => {
    const jobId = await converted();
    await bench.finishJob(jobId, 2);
    await leaves(jobId, [resultKey(jobId, 2)]);
  });

  it('keeps nothing of one that failed', async () => {
    const jobId = await converted();
    await bench.command(jobId, { type: 'fail', attempt: 2, error: DAMAGED });
    await leaves(jobId, []);
  });

  it('keeps nothing of one that was cancelled', async () => {
    const jobId = await bench.createJob();
    await bench.upload(jobId);
    await bench.command(jobId, { type: 'cancel' });
    await leaves(jobId, []);
  });

  it('keeps nothing of one that expired, but what its client typed', async () => {
    const jobId = await converted();
    await bench.context.dataKeys.create(jobKeyName(jobId));
    await bench.finishJob(jobId, 2, 500);
    await bench.waitForStatus(jobId, 'expired');
    await leaves(jobId, []);
    expect(await bench.context.dataKeys.get(jobKeyName(jobId))).not.to.equal(undefined);
  });

  it('keeps nothing of one that was deleted, not even what its client typed (D36, D88)', async () => {
    const jobId = await converted();
    await bench.context.dataKeys.create(jobKeyName(jobId));
    await bench.finishJob(jobId, 2);
    await bench.command(jobId, { type: 'delete' });
    await leaves(jobId, []);
    await bench.waitUntil('the key to be destroyed', async () => (await bench.context.dataKeys.get(jobKeyName(jobId))) === undefined);
  });

  it('takes nothing from a job that goes on', async () => {
    const going = await bench.createProcessingJob();
    await bench.put(resultKey(going, 1), png(100));
    const ended = await bench.command(await bench.createJob(), { type: 'cancel' });
    await bench.waitUntil('the clean-up of another job', async () => (await bench.lastTimer(`timer.scheduled.clean_up.${ended}`)) !== undefined);
    expect(await bench.objectsOf(going)).to.deep.equal([resultKey(going, 1), sourceKey(going)]);
  });

  it('removes an upload and a result that were still on their way when the job ended', async () => {
    const cancelled = await bench.command(await bench.createJob(), { type: 'cancel' });
    const finished = await converted();
    await bench.finishJob(finished, 2);
    for (const jobId of [cancelled, finished]) {
      await bench.waitUntil('the first clean-up', async () => (await bench.lastTimer(`timer.scheduled.clean_up.${jobId}`)) !== undefined);
    }
    await bench.upload(cancelled);
    await bench.put(resultKey(finished, 1), png(100));
    await leaves(cancelled, []);
    await leaves(finished, [resultKey(finished, 2)]);
  });

  it('waits with the second clean-up until the upload URL is over', async () => {
    const urlExpiresAtMs = Date.now() + CLEAN_AGAIN_MS;
    const jobId = await bench.createJob(undefined, { upload_url_expires_at: new Date(urlExpiresAtMs).toISOString() });
    await bench.command(jobId, { type: 'cancel' });
    await bench.waitUntil('the end of the upload URL', () => Promise.resolve(Date.now() > urlExpiresAtMs));
    await bench.upload(jobId);
    await leaves(jobId, []);
  });
});
