import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { EngineFailure, EngineKilled } from '../../../services/converter/engines/failure.ts';
import { FLAT_FILTERS, OFFICE_FORMATS } from '../../../services/converter/engines/office/filters.ts';
import { createOfficePool, type OfficePool } from '../../../services/converter/engines/office/pool.ts';
import { createSandbox, type Sandbox } from '../../../services/converter/sandbox/sandbox.ts';
import { waitFor } from '../../../services/standalone/processes.ts';
import { members } from '../../engines/readers/words.ts';
import { expectFailure } from '../../support/expect-failure.ts';
import { convertInPool, flatText, ORGANIZATIONS } from '../../support/office.ts';
import { descendantsOf } from '../../support/process-tree.ts';

const APPEARS_LIMIT_MS = 40_000;
/** After a kill nothing may run for longer than this. */
const GONE_LIMIT_MS = 10_000;

/** A document of ten thousand pages, over which the suite sits for a minute. */
const ENDLESS = flatText('<text:p>word word word word</text:p>'.repeat(400_000));

/** The suites that run below this process, by process id. */
function suites(): number[] {
  return descendantsOf(process.pid).filter(({ command }) => /^\S*soffice\.bin /.test(command)).map(({ pid }) => pid);
}

function untilReady(count: number): Promise<number[]> {
  return waitFor(`${count} suites`, APPEARS_LIMIT_MS, () => (suites().length >= count ? suites() : undefined));
}

/** True when a suite has been handed a document: its folder then has one of the job inside. */
function isWorking(): true | undefined {
  const inside = foldersOfJobs().flatMap((folder) => readdirSync(join(tmpdir(), folder)));
  return inside.some((name) => /^[0-9a-f]{16}$/.test(name)) ? true : undefined;
}

function foldersOfJobs(): string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith('job-') && name.includes(`-${process.pid}-`));
}

describe('the office pool', function () {
  this.timeout(120_000);
  let sandbox: Sandbox;
  let pool: OfficePool;
  before(async () => {
    sandbox = await createSandbox({ mode: 'require' });
  });
  const open = (isolation: 'strict' | 'shared', slots = 1): void => {
    pool = createOfficePool({ slots, isolation });
  };
  /** The processes that are there before and after the next job of an organization. */
  async function serve(organizationId: string = ORGANIZATIONS[0]): Promise<{ readonly before: number[]; readonly after: number[] }> {
    const before = suites();
    expect((await convertInPool(sandbox, pool, { organizationId })).bytes.subarray(0, 5).toString()).to.equal('%PDF-');
    return { before, after: suites() };
  }

  afterEach(async () => {
    await pool.stop();
    expect(suites(), 'processes after stop()').to.deep.equal([]);
    expect(foldersOfJobs(), 'folders after stop()').to.deep.equal([]);
  });

  it('ends a suite after each job and has the next one started before it is needed (strict)', async () => {
    open('strict');
    const seen = new Set<number>();
    for (let jobs = 1; jobs <= 3; jobs += 1) {
      const { before, after } = await serve();
      for (const pid of before) seen.add(pid);
      expect(before.filter((pid) => !after.includes(pid)).length, 'suites that ended with the job').to.be.greaterThan(jobs === 1 ? -1 : 0);
      await untilReady(2);
    }
    expect(seen.size).to.be.greaterThan(2);
  });

  it('lets a suite serve one organization again, and never another (shared)', async () => {
    open('shared');
    await serve();
    const both = await untilReady(2);
    await serve();
    expect(suites()).to.have.members(both);
    await serve(ORGANIZATIONS[1]);
    const mixed = await untilReady(2);
    expect(mixed.filter((pid) => both.includes(pid)).length).to.be.within(1, 2);
  });

  it('kills the suite with all that it started when the time is over', async () => {
    open('strict');
    await serve();
    const started = performance.now();
    const { code } = await expectFailure(convertInPool(sandbox, pool, { file: ENDLESS, importFilter: FLAT_FILTERS.writer, timeLimitMs: 1_500 }), EngineFailure);
    expect(code).to.equal('timeout');
    expect(performance.now() - started).to.be.lessThan(GONE_LIMIT_MS + APPEARS_LIMIT_MS);
    await serve();
  });

  it('tells a suite that somebody killed from a fault of the file (D37)', async () => {
    open('strict');
    const converting = convertInPool(sandbox, pool, { file: ENDLESS, importFilter: FLAT_FILTERS.writer });
    const killed = expectFailure(converting, EngineKilled);
    await waitFor('a working suite', APPEARS_LIMIT_MS, isWorking);
    for (const pid of suites()) process.kill(pid, 'SIGKILL');
    await killed;
    // Those that stood ready were killed, too; until that is noticed the next job may be given one of them.
    await waitFor('a job that is served again', APPEARS_LIMIT_MS, () => serve().then(() => true, (error: unknown) => (error instanceof EngineKilled ? undefined : Promise.reject(error as Error))));
  });

  it('gives up with the reason of the caller, whether it waits or works', async () => {
    open('strict');
    const reason = new Error('not wanted any more');
    const before = new AbortController();
    before.abort(reason);
    expect(await convertInPool(sandbox, pool, { signal: before.signal }).catch((error: unknown) => error)).to.equal(reason);
    const during = new AbortController();
    const converting = convertInPool(sandbox, pool, { file: ENDLESS, importFilter: FLAT_FILTERS.writer, signal: during.signal }).catch((error: unknown) => error);
    await waitFor('a working suite', APPEARS_LIMIT_MS, isWorking);
    during.abort(reason);
    expect(await converting).to.equal(reason);
  });

  it('lets no more jobs run at once than it has slots, and the others wait outside of their time', async () => {
    open('strict', 1);
    const done = await Promise.all(Array.from({ length: 3 }, () => convertInPool(sandbox, pool, { timeLimitMs: 20_000 })));
    for (const { billableMs } of done) expect(billableMs).to.be.within(1, 20_000);
  });

  it('converts a long text with comments, over which a suite without its parts for the screen dies', async () => {
    open('shared');
    const comment = '<office:annotation><text:p>a comment</text:p></office:annotation>';
    const long = flatText(`<text:p>first${comment}</text:p>${'<text:p>a line of text</text:p>'.repeat(3_500)}`);
    const { bytes } = await convertInPool(sandbox, pool, { file: long, importFilter: FLAT_FILTERS.writer, exportFilter: OFFICE_FORMATS.docx.writes });
    expect(members(bytes, /^word\/comments\.xml$/).join()).to.include('a comment');
    const pdf = await convertInPool(sandbox, pool, { file: bytes });
    const pages = /^Pages:\s+(\d+)$/m.exec(execFileSync('pdfinfo', ['-'], { input: pdf.bytes }).toString())?.[1];
    expect(Number(pages)).to.be.greaterThan(50);
  });
});
