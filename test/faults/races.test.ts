import { expect } from 'chai';
import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { waitFor } from '../../services/standalone/processes.ts';
import { readRunFile } from '../../shared/config/run-file.ts';
import { findProjectRoot } from '../../shared/tools/project-root.ts';
import { Books, requireCleanAudit } from '../support/books.ts';
import { tasksOf, type Answer, type ErrorBody } from '../support/client.ts';
import { faultService, type FaultService } from '../support/fault-service.ts';
import { inParallel } from '../support/in-parallel.ts';
import { readLog } from '../support/log-reading.ts';
import { makeDot } from '../support/pictures.ts';

const START_LIMIT_MS = 90_000;
const STOP_LIMIT_MS = 30_000;
const JOBS = 40;
const WIDTH = 8;

describe('When things happen at the same moment', function () {
  this.timeout(300_000);
  let world: FaultService;
  let dot: Buffer;

  before(async () => {
    world = await faultService();
    dot = await makeDot();
  });

  it('100 requests for the last 10 credits create exactly 10 jobs (D29)', async () => {
    const books = await Books.open(world.service, world.operator, 10);
    const answers = await inParallel(100, 100, () => books.tryCreate(tasksOf('jpg', 'png')));
    const refused = answers.filter((answer) => answer?.status === 402) as unknown as Answer<ErrorBody>[];
    expect([books.promised.size, refused.length]).to.deep.equal([10, 90]);
    for (const { body } of refused) {
      expect(body.error.code).to.equal('insufficient_credits');
      expect(body.error.details).to.deep.equal({ credits_required: 1, credits_available: 0, pricing_url: `${world.service.baseUrl}/v1/operations` });
    }
    expect((await books.client.send<{ credits: { balance: number } }>('GET', '/v1/me')).body.credits.balance).to.equal(0);
    await books.cancelWaiting();
    expect((await books.requireRight()).map(({ status }) => status)).to.deep.equal(Array.from({ length: 10 }, () => 'cancelled'));
  });

  it('two converters never both convert a job, and a cancel never meets a charge (§3.2, D35)', async () => {
    const second = await startSecondConverter();
    const books = await Books.open(world.service, world.operator, JOBS);
    try {
      const cancels = await inParallel(JOBS, WIDTH, async (index) => {
        const job = await books.create(tasksOf('jpg', 'png'));
        const uploaded = books.client.upload(job, dot);
        // Every second job is cancelled right when its file is there, so that the cancel meets the claim.
        if (index % 2 === 0) return void expect((await uploaded).status).to.equal(200);
        await uploaded;
        return { id: job.id, answer: await books.client.send<ErrorBody>('POST', `/v1/jobs/${job.id}/cancel`) };
      });
      const jobs = await books.requireRight();
      for (const cancel of cancels.filter((tried) => tried !== undefined)) requireOneWinner(cancel.answer, jobs.find(({ id }) => id === cancel.id)?.status);
      const { length: cancelled } = jobs.filter(({ status }) => status === 'cancelled');
      expect(jobs.filter(({ status }) => status === 'finished')).to.have.length(JOBS - cancelled);
      await requireOneAttemptEach(new Set(books.promised));
    } finally {
      await stop(second);
    }
    await requireCleanAudit(world.service);
  });

  async function requireOneAttemptEach(jobIds: ReadonlySet<string>): Promise<void> {
    const claims = (await readLog(world.operator.nc, 'JOBS')).filter(({ subject, type }) => jobIds.has(subject) && type === 'job.conversion_started');
    expect(new Set(claims.map(({ subject }) => subject)).size).to.equal(claims.length);
  }

  async function startSecondConverter(): Promise<ChildProcess> {
    const { dataDir, addresses } = world.service;
    const run = readRunFile(dataDir);
    const { PATH = '', HOME = '' } = process.env;
    const child = spawn(process.execPath, [join(findProjectRoot(), 'dist/services/converter/main.js')], {
      env: { PATH, HOME, DATA_DIR: dataDir, PUBLIC_URL: world.service.baseUrl, NATS_URL: addresses.natsUrl, NATS_MONITOR_URL: run?.nats_monitor_url ?? '', MASTER_KEY: addresses.masterKey },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
    await waitFor('the start of a second converter', START_LIMIT_MS, () => said.includes('"msg":"ready"') || undefined);
    return child;
  }
});

/** Either the cancel came first, or the claim did, or all was over: the job says the same as the answer. */
function requireOneWinner(answer: Answer<ErrorBody>, status: string | undefined): void {
  if (answer.status === 200) return void expect(status).to.equal('cancelled');
  expect([answer.status, answer.body.error.code, status]).to.deep.equal([409, 'validation_failed', 'finished']);
  expect(answer.body.error.details).to.deep.equal(answer.body.error.details?.['reason'] === 'already_terminal' ? { reason: 'already_terminal', status: 'finished' } : { reason: 'processing_cannot_be_cancelled', status: 'processing' });
}

async function stop(child: ChildProcess): Promise<void> {
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const cutOff = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
  child.kill('SIGTERM');
  await closed;
  clearTimeout(cutOff);
}
