import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '../../services/standalone/processes.ts';
import { findProjectRoot } from '../../shared/tools/project-root.ts';
import { Books } from '../support/books.ts';
import { tasksOf } from '../support/client.ts';
import { fixturePath } from '../support/fixtures.ts';
import { readLog } from '../support/log-reading.ts';
import { openOperator, type TestOperator } from '../support/organization.ts';
import { runProgram } from '../support/run-program.ts';
import { sharedService, type TestService } from '../support/service.ts';

const COUNTED_LIMIT_MS = 60_000;

type Usage = { readonly output_format: string; readonly conversions: number; readonly credits: number };

describe('The example consumer', function () {
  this.timeout(180_000);
  let service: TestService;
  let operator: TestOperator;
  let folder: string;

  before(async () => {
    service = await sharedService();
    operator = await openOperator(service);
    folder = await mkdtemp(join(tmpdir(), 'test-usage-'));
  });
  after(async () => {
    await operator.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Runs the report until it has counted what `isThere` asks for; the last thing it said, and how it ended. */
  async function runReport(isThere: (usage: readonly Usage[]) => boolean): Promise<number | null> {
    const { PATH = '' } = process.env;
    const child = spawn(process.execPath, ['--import', 'tsx', 'streams/examples/usage-report.ts'], {
      cwd: findProjectRoot(),
      env: { PATH, NATS_URL: service.addresses.natsUrl, DATA_DIR: folder },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const closed = new Promise<number | null>((resolve) => child.once('close', resolve));
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
    try {
      await waitFor('the report to count everything', COUNTED_LIMIT_MS, () => isThere(lastUsage(said)) || undefined);
    } finally {
      child.kill('SIGTERM');
    }
    return closed;
  }

  it('counts what the service has converted, from the first job on, and goes on where it stopped', async () => {
    const books = await Books.open(service, operator, 3);
    const picture = await readFile(fixturePath('sample.webp'));
    const convert = async (format: string): Promise<void> => {
      const job = await books.create(tasksOf('webp', format));
      await books.client.upload(job, picture);
      expect((await books.client.waitForStatus(job.id, 'finished', 'error')).status).to.equal('finished');
    };
    await convert('tiff');
    await convert('png');
    expect(await runReport(await expectation())).to.equal(0);
    await convert('tiff');
    expect(await runReport(await expectation())).to.equal(0);
  });

  it('finds a standalone service by its data folder, and says what to do when there is none', async () => {
    const child = spawn(process.execPath, ['--import', 'tsx', 'streams/examples/usage-report.ts'], {
      cwd: findProjectRoot(),
      env: { PATH: process.env['PATH'], DATA_DIR: service.dataDir },
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    const closed = once(child, 'close');
    child.stdout?.resume();
    // It says so once it has connected and its copy is open.
    await once(child, 'message');
    child.kill('SIGTERM');
    expect(await closed).to.deep.equal([0, null]);
    const lost = await runProgram(process.execPath, ['--import', 'tsx', 'streams/examples/usage-report.ts'], { environment: { DATA_DIR: folder } });
    expect(lost.code).to.equal(78);
    expect(lost.stderr).to.match(/^No running service was found in .*set NATS_URL\.\n$/);
  });

  /** What the log says by now, counted here by other means. */
  async function expectation(): Promise<(usage: readonly Usage[]) => boolean> {
    const events = await readLog(operator.nc, 'JOBS');
    const formats = new Map(events.filter(({ type }) => type === 'job.created').map(({ subject, data }) => [subject, data['output_format']]));
    const finished = events.filter(({ type }) => type === 'job.finished');
    const expected = (format: string) => finished.filter(({ subject }) => formats.get(subject) === format);
    return (usage) =>
      ['tiff', 'png'].every((format) => {
        const rows = usage.filter((row) => row.output_format === format);
        const jobs = expected(format);
        const credits = jobs.reduce((sum, { data }) => sum + Number(data['credits_charged']), 0);
        return total(rows, 'conversions') === jobs.length && total(rows, 'credits') === credits;
      });
  }
});

function total(rows: readonly Usage[], field: 'conversions' | 'credits'): number {
  return rows.reduce((sum, row) => sum + row[field], 0);
}

function lastUsage(said: string): readonly Usage[] {
  const line = said.split('\n').slice(0, -1).findLast((text) => text.includes('"usage":'));
  return line === undefined ? [] : (JSON.parse(line) as { usage: readonly Usage[] }).usage;
}
