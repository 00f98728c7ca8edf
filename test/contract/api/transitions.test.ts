import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { JobView } from '../../../shared/domain/job-view.ts';
import { waitFor } from '../../../services/standalone/processes.ts';
import { resultUrlOf, tasksOf, TestClient, type ErrorBody } from '../../support/client.ts';
import { outcome } from '../../support/multipart.ts';
import { openApiCheck } from '../../support/openapi-check.ts';
import { openOperator, type TestOperator, type TestOrganization } from '../../support/organization.ts';
import { makeDot } from '../../support/pictures.ts';
import { stateOf } from '../../support/process-tree.ts';
import { sharedService, type TestService } from '../../support/service.ts';

const STOP_LIMIT_MS = 10_000;
/** Files go when the importer comes to the end of their job. */
const GONE_LIMIT_MS = 20_000;

describe('What becomes of a job', function () {
  this.timeout(120_000);
  let service: TestService;
  let operator: TestOperator;
  let organization: TestOrganization;
  let client: TestClient;
  let tester: TestClient;
  let dot: Buffer;
  let untouched: JobView;
  let longest: Promise<readonly [number, JobView, number]>;

  before(async () => {
    service = await sharedService();
    operator = await openOperator(service);
    dot = await makeDot();
    const check = await openApiCheck(service.baseUrl);
    organization = await operator.newOrganization(20);
    client = new TestClient(service.baseUrl, (await organization.newKey('live')).secret, check);
    tester = new TestClient(service.baseUrl, (await organization.newKey('test')).secret, check);
    untouched = await tester.createJob(tasksOf('jpg', 'png'));
    // Begun here and awaited by the last test, so that the others run meanwhile.
    const startMs = performance.now();
    longest = tester.send<JobView>('GET', `/v1/jobs/${untouched.id}?wait=25`).then(({ status, body }) => [status, body, performance.now() - startMs]);
  });
  after(() => operator.stop());

  async function balance(): Promise<number> {
    return (await client.send<{ credits: { balance: number } }>('GET', '/v1/me')).body.credits.balance;
  }

  async function eventsOf({ id }: JobView): Promise<readonly string[]> {
    return (await operator.accounts.store.load({ kind: 'job', id })).map(({ event }) => event.type);
  }

  async function untilNoFiles({ id }: JobView): Promise<void> {
    await waitFor('the removal of the files', GONE_LIMIT_MS, async () => ((await readdir(join(service.dataDir, 'objects'), { recursive: true })).some((name) => name.includes(id)) ? undefined : true));
  }

  async function queuedJob(): Promise<JobView> {
    const job = await client.createJob(tasksOf('jpg', 'png'));
    expect((await client.upload(job, dot)).status).to.equal(200);
    return client.waitForStatus(job.id, 'queued');
  }

  /** With the converter standing still, what has its file stays queued. */
  async function whileNobodyConverts(act: () => Promise<void>): Promise<void> {
    const pid = service.pidOf('converter') ?? 0;
    process.kill(pid, 'SIGSTOP');
    try {
      await waitFor('the converter standing still', STOP_LIMIT_MS, () => stateOf(pid).startsWith('T') || undefined);
      await act();
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  }

  it('that is queued: it is cancelled or deleted, which gives its credits back (§2.7, §3.2, §3.3, §3.7, D14, D30, D31, D36)', async () => {
    const before = await balance();
    let cancelled: JobView | undefined;
    let deleted: JobView | undefined;
    await whileNobodyConverts(async () => {
      [cancelled, deleted] = [await queuedJob(), await queuedJob()];
      for (const job of [cancelled, deleted]) {
        expect(job.tasks?.map(({ status }) => status)).to.deep.equal(['finished', 'queued', 'waiting']);
        expect(await eventsOf(job)).to.deep.equal(['job.created', 'job.source_received']);
      }
      expect(await balance()).to.equal(before - 2);
      const answer = await client.send<JobView>('POST', `/v1/jobs/${cancelled.id}/cancel`);
      expect([answer.status, answer.body.status, answer.body.credits_used]).to.deep.equal([200, 'cancelled', 0]);
      expect(answer.body.tasks?.map(({ status }) => status)).to.deep.equal(['finished', 'cancelled', 'cancelled']);
      expect(await balance()).to.equal(before - 1);
      expect((await client.send('DELETE', `/v1/jobs/${deleted.id}`)).status).to.equal(204);
      expect(await balance()).to.equal(before);
      expect((await client.send('GET', `/v1/jobs/${deleted.id}`)).status).to.equal(404);
      await untilNoFiles(deleted);
    });
    // The converter, which may have been told of both, converts neither.
    expect((await client.convert(dot, tasksOf('jpg', 'png'))).status).to.equal('finished');
    expect(cancelled && (await eventsOf(cancelled))).to.deep.equal(['job.created', 'job.source_received', 'job.cancelled']);
    expect(deleted && (await eventsOf(deleted))).to.deep.equal(['job.created', 'job.source_received', 'job.deleted']);
  });

  it('that is being converted: it is neither cancelled nor deleted, and goes on (§3.4, §4.3 POST /jobs/<job_id>/cancel, §4.3 DELETE /jobs/<job_id>, §7 validation_failed 409, D14, D31, D35)', async () => {
    const job = await tester.createJob(tasksOf('jpg', 'png'), { tag: 'test:delay=4000' });
    await tester.upload(job, dot);
    const processing = await tester.waitForStatus(job.id, 'processing');
    expect(processing.tasks?.map(({ status }) => status)).to.deep.equal(['finished', 'processing', 'waiting']);
    expect(outcome(await tester.send<ErrorBody>('POST', `/v1/jobs/${job.id}/cancel`))).to.deep.equal([409, 'validation_failed', { reason: 'processing_cannot_be_cancelled', status: 'processing' }]);
    expect(outcome(await tester.send<ErrorBody>('DELETE', `/v1/jobs/${job.id}`))).to.deep.equal([409, 'validation_failed', { reason: 'processing_cannot_be_deleted', status: 'processing' }]);
    expect(await tester.readJob(job.id)).to.deep.equal(processing);
    expect((await tester.waitForStatus(job.id, 'finished', 'error')).status).to.equal('finished');
    expect(await eventsOf(job)).to.deep.equal(['job.created', 'job.source_received', 'job.conversion_started', 'job.finished']);
  });

  it('that has ended: it is cancelled no more, and deleted once with its files (§3.5, §3.6, §4.3 DELETE /jobs/<job_id>, §7 not_found 404, D35, D36)', async () => {
    const finished = await client.convert(dot, tasksOf('jpg', 'png'));
    const failed = await client.convert(Buffer.from('no picture'), tasksOf('jpg', 'png'));
    const waiting = await client.createJob(tasksOf('jpg', 'png'));
    const cancelled = (await client.send<JobView>('POST', `/v1/jobs/${waiting.id}/cancel`)).body;
    const link = resultUrlOf(finished);
    const charged = await balance();
    for (const [job, status] of [[finished, 'finished'], [failed, 'error'], [cancelled, 'cancelled']] as const) {
      expect(outcome(await client.send<ErrorBody>('POST', `/v1/jobs/${job.id}/cancel`))).to.deep.equal([409, 'validation_failed', { reason: 'already_terminal', status }]);
      expect(await client.readJob(job.id)).to.deep.equal(job);
      const deleted = await client.send('DELETE', `/v1/jobs/${job.id}`);
      expect([deleted.status, deleted.bytes.length], status).to.deep.equal([204, 0]);
      for (const [method, path] of [['DELETE', ''], ['GET', ''], ['POST', '/cancel']] as const) {
        expect(outcome(await client.send<ErrorBody>(method, `/v1/jobs/${job.id}${path}`)), status).to.deep.equal([404, 'not_found', undefined]);
      }
      await untilNoFiles(job);
    }
    expect((await client.send('GET', link)).status).to.equal(404);
    expect(await balance(), 'the charge stays').to.equal(charged);
  });

  it('that nobody touches: it is answered as it is when the longest wait is over (§4.3 GET /jobs/<job_id>, §8 long-poll wait, D33)', async () => {
    const [status, job, heldMs] = await longest;
    expect([status, job]).to.deep.equal([200, await tester.readJob(untouched.id)]);
    expect(heldMs).to.be.within(24_900, 40_000);
  });
});
