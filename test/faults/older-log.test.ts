import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { expect } from 'chai';
import { PROJECTION_NAMES } from '../../projections/projection.ts';
import { findFreePort } from '../../services/standalone/free-port.ts';
import { waitFor } from '../../services/standalone/processes.ts';
import type { JobView } from '../../shared/domain/job-view.ts';
import { requireCleanAudit } from '../support/books.ts';
import { tasksOf, TestClient } from '../support/client.ts';
import { openOperator } from '../support/organization.ts';
import { runCommand } from '../support/run-program.ts';
import { startService, type TestService } from '../support/service.ts';

/** Long enough to copy the log before it is over, on a busy machine too. */
const UPLOAD_WINDOW_SECONDS = 60;
const LIMIT_MS = 120_000;

describe('When an older log was put back behind newer read models (D96)', function () {
  this.timeout(420_000);
  let service: TestService;
  let older: string;
  let settings: Readonly<Record<string, string>>;
  let job: JobView;

  before(async () => {
    older = await mkdtemp(join(tmpdir(), 'test-older-log-'));
    settings = { LOG_LEVEL: 'warn', PORT: String(await findFreePort()), UPLOAD_WINDOW_SECONDS: String(UPLOAD_WINDOW_SECONDS) };
    service = await startService({ settings });
    job = await create();
    await service.end();
    await cp(join(service.dataDir, 'nats'), older, { recursive: true });
    service = await startService({ settings, dataDir: service.dataDir });
    await service.untilReady();
    await create();
    await service.end();
    await rm(join(service.dataDir, 'nats'), { recursive: true });
    await cp(older, join(service.dataDir, 'nats'), { recursive: true });
    service = await startService({ settings, dataDir: service.dataDir });
  });
  after(async () => {
    await service.stop();
    await rm(older, { recursive: true, force: true });
  });

  async function create(): Promise<JobView> {
    const client = new TestClient(service.baseUrl, service.liveKey);
    const made = await waitFor('a job to be taken', LIMIT_MS, async () => {
      const { status, body } = await client.send<JobView>('POST', '/v1/jobs', { json: { tasks: tasksOf('jpg', 'png') } });
      expect(status).to.be.oneOf([201, 503]);
      return status === 201 ? body : undefined;
    });
    // Its read model has it as well.
    await waitFor('the list', LIMIT_MS, async () => ((await client.send('GET', '/v1/jobs')).bytes.includes(made.id) ? true : undefined));
    return made;
  }

  it('the service starts, and says that it does nothing until an operator decides', async () => {
    expect(service.output()).to.contain('WARNING: the log is older than the read models');
    const { dependencies } = (await (await fetch(`${service.baseUrl}/readyz`)).json()) as { dependencies: Record<string, string> };
    expect(dependencies).to.include({ read_model: 'away', ledger: 'away', importer: 'away', nats: 'ok', postgres: 'ok' });
  });

  it('no deadline is met, nothing is appended, and clients are told to come again', async () => {
    const operator = await openOperator(service);
    try {
      const manager = await jetstreamManager(operator.nc, { checkAPI: false });
      const ends = async (): Promise<readonly number[]> => Promise.all(['JOBS', 'CREDITS', 'ACCOUNTS'].map(async (name) => (await manager.streams.info(name)).state.last_seq));
      const before = await ends();
      const client = new TestClient(service.baseUrl, service.liveKey);
      const answer = await client.send('POST', '/v1/jobs', { json: { tasks: tasksOf('jpg', 'png') } });
      expect([answer.status, (await client.send('DELETE', `/v1/jobs/${job.id}`)).status]).to.deep.equal([503, 503]);
      await waitFor('the deadline of the job', LIMIT_MS, async () => (await manager.streams.getMessage('TIMERS', { last_by_subj: `timer.due.upload_window.${job.id}` }).catch(() => undefined)) ?? undefined);
      expect(await ends()).to.deep.equal(before);
    } finally {
      await operator.stop();
    }
  });

  it('everything goes on once the read models were rebuilt', async () => {
    for (const name of PROJECTION_NAMES) {
      const { code, stderr } = await runCommand('projections', ['rebuild', name], { DATA_DIR: service.dataDir });
      expect(code, stderr).to.equal(0);
    }
    await service.untilReady();
    const client = new TestClient(service.baseUrl, service.liveKey);
    await client.waitForStatus(job.id, 'expired');
    await create();
    await requireCleanAudit(service);
  });
});
