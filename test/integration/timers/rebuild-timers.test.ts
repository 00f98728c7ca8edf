import { expect } from 'chai';
import { jetstreamManager } from '@nats-io/jetstream';
import { resultKey } from '../../../shared/objects/keys.ts';
import { areTimersLost } from '../../../shared/timers/rebuild-timers.ts';
import { applyStreams } from '../../../streams/apply.ts';
import { ImporterBench, png } from '../../support/importer-bench.ts';
import { runCommand } from '../../support/run-program.ts';

/** Longer than whatever comes before the timers are lost. */
const WINDOW_MS = 12_000;

describe('a log that was put back without its timers (D89)', function () {
  this.timeout(120_000);
  let bench: ImporterBench;

  beforeEach(async () => {
    bench = await ImporterBench.start();
  });
  afterEach(() => bench.stop());

  type Jobs = { readonly unused: string; readonly finished: string; readonly uploaded: string; readonly cancelled: string };

  /** Jobs whose deadlines are all set, and whose importer is gone. */
  async function jobsWithDeadlines(): Promise<Jobs> {
    await bench.startImporter();
    const unused = await bench.createJob(WINDOW_MS);
    const finished = await bench.createProcessingJob();
    await bench.put(resultKey(finished, 1), png(500));
    await bench.finishJob(finished, 1, WINDOW_MS);
    const uploaded = await bench.createJob();
    const cancelled = await bench.command(await bench.createJob(), { type: 'cancel' });
    const manager = await jetstreamManager(bench.nc, { checkAPI: false });
    await bench.waitUntil('the deadlines to be set', async () => {
      const infos = await Promise.all(['importer-schedule', 'importer-clean'].map((durable) => manager.consumers.info('JOBS', durable)));
      return infos.every(({ num_pending, num_ack_pending }) => num_pending + num_ack_pending === 0);
    });
    await bench.stopImporters();
    return { unused, finished, uploaded, cancelled };
  }

  async function requireMet({ unused, finished, uploaded }: Jobs): Promise<void> {
    await bench.waitForStatus(unused, 'expired');
    await bench.waitForStatus(finished, 'expired');
    expect((await bench.events(finished)).at(-1)?.event).to.deep.equal({ type: 'job.expired', data: { reason: 'result_ttl' } });
    // Nobody asks about this file.
    await bench.waitForStatus(uploaded, 'queued');
  }

  it('gets every deadline anew from the next importer that starts, once', async () => {
    const jobs = await jobsWithDeadlines();
    expect(await areTimersLost(bench.nc)).to.equal(false);
    const manager = await jetstreamManager(bench.nc, { checkAPI: false });
    await manager.streams.delete('TIMERS');
    await applyStreams(bench.nc, { replicas: 1, log: () => undefined });
    expect(await areTimersLost(bench.nc)).to.equal(true);
    await bench.upload(jobs.uploaded);
    await bench.startImporter();
    await requireMet(jobs);
    expect(await bench.lastTimer(`timer.scheduled.clean_up.${jobs.cancelled}`)).not.to.equal(undefined);
    expect(await areTimersLost(bench.nc)).to.equal(false);
  });

  it('gets every deadline anew by a command, while the service runs', async () => {
    const jobs = await jobsWithDeadlines();
    await (await jetstreamManager(bench.nc, { checkAPI: false })).streams.purge('TIMERS');
    await bench.upload(jobs.uploaded);
    await bench.startImporter();
    const { code, stdout, stderr } = await runCommand('admin', ['timers', 'rebuild'], { NATS_URL: bench.server.url, DATABASE_URL: 'postgres://127.0.0.1:1/none', MASTER_KEY: bench.masterKey });
    expect(code, stderr).to.equal(0);
    // One for the window of a job, one to look for its file; one for a result; one for cleaning up behind each job that ended.
    expect(JSON.parse(stdout)).to.deep.equal({ timers: 7 });
    await requireMet(jobs);
  });
});
