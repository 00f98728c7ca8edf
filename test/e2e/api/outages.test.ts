import { expect } from 'chai';
import { newSecret } from '../../../shared/accounts/api-key.ts';
import { newId } from '../../../shared/ids/ids.ts';
import { waitFor } from '../../../services/standalone/processes.ts';
import { stateOf } from '../../support/process-tree.ts';
import type { JobView } from '../../../shared/domain/job-view.ts';
import { tasksOf, TestClient, type ErrorBody } from '../../support/client.ts';
import { OTHER_BODY, post, requireConflict } from '../../support/idempotent-requests.ts';
import { openApiCheck, type OpenApiCheck } from '../../support/openapi-check.ts';
import { startService, type TestService } from '../../support/service.ts';

const OUTAGE_LIMIT_MS = 20_000;

describe('The API while something is away', function () {
  this.timeout(180_000);
  let service: TestService;
  let client: TestClient;
  let check: OpenApiCheck;

  before(async () => {
    service = await startService({ settings: { LOG_LEVEL: 'warn' } });
    check = await openApiCheck(service.baseUrl);
    client = new TestClient(service.baseUrl, service.liveKey, check);
  });
  after(() => service.stop());
  afterEach(() => service.untilReady());

  async function total(): Promise<number> {
    return (await client.send<{ total: number }>('GET', '/v1/jobs')).body.total;
  }

  /** Stops a process where it stands, so that its supervisor does not start another. */
  async function freeze(name: 'ledger' | 'nats-server' | 'importer'): Promise<() => void> {
    const pid = service.pidOf(name);
    if (pid === undefined) throw new Error(`${name} is not running`);
    process.kill(pid, 'SIGSTOP');
    // On a busy machine a process goes on for a moment after it was told to stop.
    await waitFor('the process to stand still', OUTAGE_LIMIT_MS, () => stateOf(pid).startsWith('T') || undefined);
    return () => process.kill(pid, 'SIGCONT');
  }

  it('answers 503 with Retry-After and creates nothing while no ledger answers (§7 internal 503, D77)', async () => {
    const before = await total();
    const resume = await freeze('ledger');
    try {
      const answer = await client.send<ErrorBody>('POST', '/v1/jobs', { json: { tasks: tasksOf('jpg', 'png') } });
      expect([answer.status, answer.body.error.code, answer.body.error.details]).to.deep.equal([503, 'internal', { retryable: true, reason: 'credit_service_unavailable' }]);
      expect(Number(answer.headers.get('retry-after'))).to.be.greaterThan(0);
      const ready = await client.send<{ dependencies: Record<string, string>; error: object }>('GET', '/readyz');
      expect(ready.status).to.equal(503);
      expect(ready.body.dependencies).to.include({ ledger: 'away', nats: 'ok' });
      const tester = new TestClient(service.baseUrl, service.testKey);
      expect((await tester.createJob(tasksOf('jpg', 'png'))).status).to.equal('waiting');
    } finally {
      resume();
    }
    expect(await total()).to.equal(before);
  });

  it('refuses a retry while the first request waits, and frees its Idempotency-Key when that has failed (§8 idempotency 3, §8 idempotency 4)', async () => {
    const resume = await freeze('ledger');
    try {
      // Whichever of the two comes first waits for the ledger in vain.
      const answers = await Promise.all([post<ErrorBody>(client, 'k'), post<ErrorBody>(client, 'k', OTHER_BODY)]);
      const refused = answers.find(({ status }) => status === 409);
      expect(answers.find((answer) => answer !== refused)?.status).to.equal(503);
      if (refused) requireConflict(refused, 409);
    } finally {
      resume();
    }
    await service.untilReady();
    const answer = await post(client, 'k', OTHER_BODY);
    expect([answer.status, answer.headers.get('idempotent-replayed')]).to.deep.equal([201, null]);
  });

  it('still reads a job while the importer is away', async () => {
    const job = await client.createJob(tasksOf('jpg', 'png'));
    const resume = await freeze('importer');
    try {
      await client.upload(job, Buffer.from('x'));
      expect((await client.readJob(job.id)).status).to.equal('waiting');
    } finally {
      resume();
    }
  });

  it('answers 503, never 401 or 404, while the log does not answer (§7 internal 503, D4, D77)', async () => {
    const job = await client.createJob(tasksOf('jpg', 'png'));
    const resume = await freeze('nats-server');
    try {
      const stranger = new TestClient(service.baseUrl, newSecret('live'), check);
      for (const [who, method, path] of [[client, 'GET', `/v1/jobs/${job.id}`], [client, 'POST', `/v1/jobs/${job.id}/cancel`], [client, 'GET', `/v1/jobs/${newId(0)}`]] as const) {
        const away = await who.send<ErrorBody>(method, path);
        expect([away.status, away.body.error.code, away.body.error.details?.['retryable']], path).to.deep.equal([503, 'internal', true]);
        expect(away.headers.get('retry-after')).to.match(/^\d+$/);
      }
      await waitFor('the lost connection being noticed', OUTAGE_LIMIT_MS, async () => ((await stranger.send('GET', '/v1/me')).status === 503 ? true : undefined));
      expect((await stranger.send('GET', '/v1/operations')).status).to.equal(200);
    } finally {
      resume();
    }
    await service.untilReady();
    expect((await client.readJob(job.id)).status).to.equal('waiting');
  });

  it('goes on by itself after the log was killed, and has kept every job', async () => {
    const job = await client.createJob(tasksOf('jpg', 'png'));
    service.kill('nats-server');
    await waitFor('the job being read again', OUTAGE_LIMIT_MS, async () => {
      const { status } = await client.send('GET', `/v1/jobs/${job.id}`);
      expect(status).to.be.oneOf([200, 503]);
      return status === 200 || undefined;
    });
    await service.untilReady();
    const woken = client.send<JobView>('GET', `/v1/jobs/${job.id}?wait=20`);
    await client.send('GET', `/v1/jobs/${job.id}?wait=1`);
    expect((await client.send('POST', `/v1/jobs/${job.id}/cancel`)).status).to.equal(200);
    expect((await woken).body.status).to.equal('cancelled');
  });

  it('answers those who wait with the job as it is when it is told to stop (D33)', async () => {
    const job = await client.createJob(tasksOf('jpg', 'png'));
    const waiting = client.send<JobView>('GET', `/v1/jobs/${job.id}?wait=25`);
    // A second wait that ends shows that the first is on its way.
    await client.send('GET', `/v1/jobs/${job.id}?wait=1`);
    service.kill('api', 'SIGTERM');
    const answer = await waiting;
    expect([answer.status, answer.body.status]).to.deep.equal([200, 'waiting']);
  });
});
