import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import { isImporterReady } from '../../../shared/importer-client/importer-client.ts';
import { findProjectRoot } from '../../../shared/tools/project-root.ts';
import { ImporterBench, png } from '../../support/importer-bench.ts';
import { vouchForLog } from '../../support/vouch-for-log.ts';

const JOBS = 30;

describe('an importer that is killed', function () {
  this.timeout(90_000);
  let bench: ImporterBench;
  const children: ChildProcess[] = [];

  before(async () => {
    bench = await ImporterBench.start();
    vouchForLog(bench.nc);
  });
  after(async () => {
    await Promise.all(children.map(kill));
    await bench.stop();
  });

  /** The real process, from its source. */
  function startProcess(): ChildProcess {
    const environment = {
      PATH: process.env['PATH'] ?? '',
      NATS_URL: bench.server.url,
      NATS_MONITOR_URL: bench.server.monitorUrl,
      MASTER_KEY: bench.masterKey,
      DATA_DIR: bench.folder,
      CLEAN_AGAIN_SECONDS: '1',
      LOG_LEVEL: 'silent',
    };
    const child = spawn(process.execPath, ['--import', 'tsx', join(findProjectRoot(), 'services/importer/main.ts')], { env: environment, stdio: 'ignore' });
    children.push(child);
    return child;
  }

  it('leaves nothing undone and nothing done twice', async () => {
    const first = startProcess();
    await bench.waitUntil('the first importer', () => isImporterReady(bench.nc));
    const good = await Promise.all(Array.from({ length: JOBS }, () => bench.createJob()));
    const unused = await Promise.all(Array.from({ length: JOBS }, () => bench.createJob(4_000)));
    const bad = await Promise.all(Array.from({ length: JOBS }, () => bench.createJob()));
    await Promise.all(good.map((jobId) => bench.upload(jobId, png(200_000))));
    await Promise.all(bad.map((jobId) => bench.upload(jobId, Buffer.from('no picture'))));
    await bench.waitUntil('the first file to be found', async () => (await Promise.all(good.map((jobId) => bench.eventTypes(jobId)))).some((types) => types.length > 1));
    await kill(first);
    const found = (await Promise.all(good.map((jobId) => bench.eventTypes(jobId)))).filter((types) => types.length > 1).length;
    expect(found, 'it was killed in the middle').to.be.below(JOBS);

    startProcess();
    for (const jobId of good) await bench.waitForStatus(jobId, 'queued');
    for (const jobId of unused) await bench.waitForStatus(jobId, 'expired');
    for (const jobId of bad) await bench.waitForStatus(jobId, 'error');
    await bench.waitUntil('the clean-up', async () => (await Promise.all(bad.map((jobId) => bench.objectsOf(jobId)))).flat().length === 0);
    for (const jobId of good) expect(await bench.eventTypes(jobId)).to.deep.equal(['job.created', 'job.source_received']);
    for (const jobId of unused) expect(await bench.eventTypes(jobId)).to.deep.equal(['job.created', 'job.expired']);
    for (const jobId of bad) expect(await bench.eventTypes(jobId)).to.deep.equal(['job.created', 'job.failed']);
  });
});

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}
