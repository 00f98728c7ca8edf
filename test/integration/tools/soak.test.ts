import { expect } from 'chai';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFiles } from '../../../bench/soak/files.ts';
import { quantilesOf } from '../../../bench/soak/quantiles.ts';
import { makeReport, type Left } from '../../../bench/soak/report.ts';
import type { Outcome } from '../../../bench/soak/soak-client.ts';
import { chooseTarget } from '../../../bench/soak/targets.ts';

const NOTHING_LEFT: Left = { processes: [], temporary: [], sources: 0, audit: { ok: true, findings: 0 } };
const outcome = (end: string): Outcome => ({ path: 'a.docx', from: 'docx', to: 'pdf', jobId: 'one', end, tookMs: 10, resultBytes: 1 });
const report = (ends: readonly string[], left: Partial<Left> = {}): ReturnType<typeof makeReport> => makeReport(ends.map(outcome), new Map(), [], { ...NOTHING_LEFT, ...left }, 1);

describe('the soak', () => {
  let folder = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'test-soak-'));
    await mkdir(join(folder, 'deep'));
    for (const name of ['a.docx', 'b.PDF', 'c.jpeg', 'd.unknown', 'docx', 'deep/e.docx']) await writeFile(join(folder, name), '');
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('finds files of known formats at any depth, by every spelling, in the same order each time', async () => {
    const files = await findFiles(folder, 10, () => true);
    expect(files.map(({ format }) => format)).to.have.members(['docx', 'pdf', 'jpg', 'docx']);
    expect(await findFiles(folder, 2, () => true)).to.deep.equal(files.slice(0, 2));
    expect((await findFiles(folder, 10, (format) => format === 'pdf')).map(({ path }) => path)).to.deep.equal([join(folder, 'b.PDF')]);
  });

  it('takes for every second file the target that is most wanted, and all others in turn', () => {
    const targets = Array.from({ length: 10 }, (_, index) => chooseTarget('docx', index, () => true));
    expect(targets.filter((target) => target === 'pdf')).to.have.length(5);
    expect(targets).to.include.members(['odt', 'txt', 'html']).and.not.include('docx');
    expect(chooseTarget('docx', 1, (target) => target === 'pdf')).to.equal('pdf');
    expect(chooseTarget('docx', 0, () => false)).to.equal(undefined);
  });

  it('is content with failures that lie in the file, and with no others', () => {
    expect(report(['finished', 'damaged', 'password_required']).ok).to.equal(true);
    for (const end of ['timeout', 'engine_crashed', 'worker_died', 'stuck', 'refused 500', 'internal', 'empty_result']) {
      expect(report(['finished', end]).ok).to.equal(false);
      expect(report(['finished', end]).suspicious).to.have.length(1);
    }
  });

  it('is not content with anything that is left', () => {
    expect(report(['finished'], { processes: ['soffice'] }).ok).to.equal(false);
    expect(report(['finished'], { temporary: ['job-1'] }).ok).to.equal(false);
    expect(report(['finished'], { sources: 1 }).ok).to.equal(false);
    expect(report(['finished'], { audit: { ok: false, findings: 3 } }).ok).to.equal(false);
  });

  it('tells quantiles', () => {
    expect(quantilesOf(Array.from({ length: 100 }, (_, index) => 100 - index))).to.deep.equal({ count: 100, p50: 51, p95: 96, p99: 100, max: 100 });
    expect(quantilesOf([]).p99).to.equal(0);
  });
});
