import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { answerLogState } from '../../../projections/answer-log-state.ts';
import { rebuild } from '../../../projections/rebuild.ts';
import { startProjections } from '../../../projections/runner.ts';
import { waitFor } from '../../../services/standalone/processes.ts';
import { isLedgerReady } from '../../../shared/ledger-client/ledger-client.ts';
import { serviceNews } from '../../../shared/lifecycle/tell-parent.ts';
import type { Answering } from '../../../shared/nats/answer-requests.ts';
import { findProjectRoot } from '../../../shared/tools/project-root.ts';
import { created } from '../../support/job-events.ts';
import { appendAll, newJob } from '../../support/log-filler.ts';
import { silent, startReadModels, type TestReadModels } from '../../support/read-models.ts';

/** A process starts from its sources, servers are started again, and clients take seconds to notice. */
const LIMIT_MS = 30_000;

describe('a worker whose log may be the wrong one (D96)', function () {
  this.timeout(120_000);
  let models: TestReadModels;
  let projections: { stop: () => Promise<void> };
  let answering: Answering | undefined;
  let folder: string;
  const running = new Set<ChildProcess>();

  beforeEach(async () => {
    [models, folder] = await Promise.all([startReadModels(), mkdtemp(join(tmpdir(), 'test-log-state-'))]);
    projections = await startProjections(models.nc, { databaseUrl: models.databaseUrl, logger: silent, logCheckMs: 200 });
    answering = undefined;
  });
  afterEach(async () => {
    for (const child of running) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await answering?.stop();
    await projections.stop();
    await models.stop();
    await rm(folder, { recursive: true });
  });

  const answer = (): void => void (answering = answerLogState(models.nc, models.pool, silent));

  /** A ledger as a process of its own, and what it has said of itself. */
  function startLedger(): { readonly child: ChildProcess; readonly said: string[] } {
    const env = { NATS_URL: models.nats.url, NATS_MONITOR_URL: models.nats.monitorUrl, DATA_DIR: folder, LOG_LEVEL: 'silent' };
    const child = spawn(process.execPath, ['--import', 'tsx', 'services/ledger/main.ts'], { cwd: findProjectRoot(), env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    const said: string[] = [];
    child.on('message', (message) => said.push(serviceNews.parse(message).type));
    running.add(child);
    child.once('exit', () => running.delete(child));
    return { child, said };
  }

  async function copyStore(): Promise<void> {
    await appendAll(models.store, newJob(), [created()]);
    await models.nats.kill();
    await cp(join(models.nats.folder, 'store'), join(folder, 'older'), { recursive: true });
    await models.nats.restart();
    const events = await appendAll(models.store, newJob(), [created()]);
    await models.reach('jobs', events.at(-1)?.position ?? 0);
  }

  async function putBackOlder(): Promise<void> {
    const store = join(models.nats.folder, 'store');
    await models.nats.kill();
    await rm(store, { recursive: true });
    await cp(join(folder, 'older'), store, { recursive: true });
    await models.nats.restart();
  }

  it('begins nothing while the log is behind the read models, and begins when an operator decided to follow it', async () => {
    answer();
    await copyStore();
    await putBackOlder();
    const { said } = startLedger();
    await until('the worker to say that it is held', () => said.includes('held'));
    expect(await isLedgerReady(models.nc)).to.equal(false);
    await rebuild(models.nc, models.databaseUrl, 'jobs', () => undefined);
    await until('the worker to begin', () => said.includes('ready'));
    expect(await isLedgerReady(models.nc)).to.equal(true);
  });

  it('begins nothing before somebody can tell', async () => {
    const { said } = startLedger();
    // It asks for the first time once it has connected.
    const asked = models.nc.subscribe('projections.log_state', { max: 2 });
    for await (const _question of asked) expect(said).to.deep.equal([]);
    expect(await isLedgerReady(models.nc)).to.equal(false);
    answer();
    await until('the worker to begin', () => said.includes('ready'));
  });

  it('ends at once when the log is exchanged under it', async () => {
    answer();
    await copyStore();
    const { child, said } = startLedger();
    await until('the worker to begin', () => said.includes('ready'));
    const exited = once(child, 'exit');
    await putBackOlder();
    expect(await exited).to.deep.equal([1, null]);
  });

  it('goes on when NATS comes back with the same log', async () => {
    answer();
    await copyStore();
    const { child, said } = startLedger();
    await until('the worker to begin', () => said.includes('ready'));
    await models.nats.restart();
    await until('the worker to be back', () => isLedgerReady(models.nc));
    expect(child.exitCode).to.equal(null);
  });
});

async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  await waitFor(what, LIMIT_MS, async () => ((await isSo()) ? true : undefined));
}
