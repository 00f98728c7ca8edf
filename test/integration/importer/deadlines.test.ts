import { expect } from 'chai';
import { newId } from '../../../shared/ids/ids.ts';
import { resultKey } from '../../../shared/objects/keys.ts';
import { scheduleTimer } from '../../../shared/timers/timers.ts';
import { ImporterBench, png } from '../../support/importer-bench.ts';

describe('the deadlines of a job', function () {
  this.timeout(60_000);
  let bench: ImporterBench;

  beforeEach(async () => {
    bench = await ImporterBench.start();
  });
  afterEach(() => bench.stop());

  const finishedJob = async (keepMs: number): Promise<string> => {
    const jobId = await bench.createProcessingJob();
    await bench.put(resultKey(jobId, 1), png(500));
    await bench.finishJob(jobId, 1, keepMs);
    return jobId;
  };

  it('expire a job whose file never comes, once, with two importers at work (D40)', async () => {
    await bench.startImporter();
    await bench.startImporter();
    const jobId = await bench.createJob(2_000);
    await bench.waitForStatus(jobId, 'expired');
    const [start, end, ...rest] = await bench.events(jobId);
    expect(rest).to.deep.equal([]);
    expect(end?.event).to.deep.equal({ type: 'job.expired', data: { reason: 'never_uploaded' } });
    expect(Date.parse(end?.envelope.time ?? '') - Date.parse(start?.envelope.time ?? '')).to.be.at.least(2_000);
  });

  it('expire a result and remove it, and leave the charge as it is', async () => {
    await bench.startImporter();
    const jobId = await finishedJob(2_000);
    await bench.waitForStatus(jobId, 'expired');
    expect((await bench.events(jobId)).at(-1)?.event).to.deep.equal({ type: 'job.expired', data: { reason: 'result_ttl' } });
    await bench.waitUntil('the removal of the result', async () => (await bench.objectsOf(jobId)).length === 0);
  });

  it('are met though importer and nats-server were down when they were due', async () => {
    await bench.startImporter();
    const unused = await bench.createJob(2_500);
    const finished = await finishedJob(2_500);
    await bench.waitUntil('the deadlines to be set', async () => {
      const timers = await Promise.all([bench.lastTimer(`timer.scheduled.upload_window.${unused}`), bench.lastTimer(`timer.scheduled.result_ttl.${finished}`)]);
      return timers.every((position) => position !== undefined);
    });
    const downUntilMs = Date.now() + 3_000;
    await bench.stopImporters();
    await bench.server.kill();
    await bench.waitUntil('the deadlines to pass', async () => Promise.resolve(Date.now() > downUntilMs));
    await bench.server.restart();
    await bench.startImporter();
    await bench.waitForStatus(unused, 'expired');
    await bench.waitForStatus(finished, 'expired');
    expect((await bench.eventTypes(finished)).filter((type) => type === 'job.expired')).to.have.length(1);
  });

  it('are set though the importer was down when the job was created', async () => {
    const jobId = await bench.createJob(100);
    await bench.startImporter();
    await bench.waitForStatus(jobId, 'expired');
  });

  it('do nothing to a job that went on', async () => {
    await bench.startImporter();
    const jobId = await bench.createJob(3_000);
    await bench.upload(jobId);
    await bench.waitForStatus(jobId, 'queued');
    const passed = await bench.createJob(3_100);
    await bench.waitForStatus(passed, 'expired');
    expect(await bench.eventTypes(jobId)).to.deep.equal(['job.created', 'job.source_received']);
  });

  it('wait for our own clock when the timer of the server comes early', async () => {
    const jobId = await bench.createJob(4_000);
    await bench.startImporter();
    await scheduleTimer(bench.nc, { kind: 'upload_window', subjectTokens: [jobId], dueAtMs: Date.now() });
    await bench.waitForStatus(jobId, 'expired');
    const [start, end] = await bench.events(jobId);
    expect(Date.parse(end?.envelope.time ?? '') - Date.parse(start?.envelope.time ?? '')).to.be.at.least(4_000);
  });

  it('do nothing to a job that was deleted or never was', async () => {
    const gone = await bench.command(await bench.createJob(), { type: 'delete' });
    const unknown = newId(Date.now());
    await bench.startImporter();
    await bench.waitUntil('the importer to set its own timers', async () => (await bench.isWorkedOff('JOBS', 'importer-schedule', 1)) && (await bench.isWorkedOff('JOBS', 'importer-clean', 1)));
    for (const jobId of [gone, unknown]) {
      for (const kind of ['upload_window', 'result_ttl', 'upload_check', 'clean_up'] as const) await scheduleTimer(bench.nc, { kind, subjectTokens: [jobId], dueAtMs: Date.now() });
    }
    await bench.waitUntil('all timers to be handled', () => bench.isWorkedOff('TIMERS', 'importer-deadlines', 8));
    expect(await bench.eventTypes(gone)).to.deep.equal(['job.created', 'job.deleted']);
    expect(await bench.eventTypes(unknown)).to.deep.equal([]);
  });
});
