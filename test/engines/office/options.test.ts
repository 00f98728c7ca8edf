import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { imageSize } from 'image-size';
import { createOfficeEngine } from '../../../services/converter/engines/office/engine.ts';
import { createOfficePool } from '../../../services/converter/engines/office/pool.ts';
import { createPdfEngine } from '../../../services/converter/engines/pdf/engine.ts';
import { createSandbox, type Sandbox } from '../../../services/converter/sandbox/sandbox.ts';
import type { FormatName } from '../../../shared/domain/catalogue/formats.ts';
import { convertIn, failureOf, type Conversion, type Converted } from '../../contract/engine/suite.ts';
import { members } from '../../engines/readers/words.ts';

describe('options of the office engine', function () {
  this.timeout(120_000);
  // Shared, because every file here belongs to one organization, and it is faster.
  const pool = createOfficePool({ slots: 1, isolation: 'shared' });
  const engine = createOfficeEngine(pool, createPdfEngine(pool));
  let sandbox: Sandbox;
  let folder: string;
  before(async () => {
    sandbox = await createSandbox({ mode: 'require' });
    folder = await mkdtemp(join(tmpdir(), 'office-'));
  });
  after(async () => {
    await engine.stop();
    await rm(folder, { recursive: true, force: true });
  });
  const convert = (source: Conversion['source'], input: FormatName, output: FormatName, options: Conversion['options'] = {}): Promise<Converted> =>
    convertIn(sandbox, engine, { source, input, output, options, timeLimitMs: 60_000 });
  /** What poppler says of a PDF. */
  async function info(source: string, input: FormatName, options: Conversion['options']): Promise<string> {
    const path = join(folder, 'result.pdf');
    await writeFile(path, (await convert(source, input, 'pdf', options)).bytes);
    return execFileSync('pdfinfo', [path], { stdio: ['ignore', 'pipe', 'ignore'] }).toString();
  }

  it('pages takes some pages, and says when there are none of that number', async () => {
    expect(await info('datasets.xlsx', 'xlsx', { pages: '2-3,29-' })).to.match(/^Pages:\s+3$/m);
    expect(await info('datasets.xlsx', 'xlsx', { pages: '28-400' })).to.match(/^Pages:\s+2$/m);
    expect(await failureOf(convert('datasets.xlsx', 'xlsx', 'pdf', { pages: '30' }))).to.equal('page_not_found');
    expect(await failureOf(convert('datasets.xlsx', 'xlsx', 'pdf', { pages: '3-2' }))).to.equal('page_not_found');
  });

  it('paper_size and orientation change the paper of texts and sheets', async () => {
    expect(await info('a-text.docx', 'docx', { paper_size: 'a5', orientation: 'landscape' })).to.match(/^Page size:\s+595\.\d+ x 419\.\d+/m);
    expect(await info('a-text.docx', 'docx', { orientation: 'landscape' })).to.match(/^Page size:\s+841\.\d+ x 595\.\d+/m);
    expect(await info('datasets.xlsx', 'xlsx', { paper_size: 'letter' })).to.match(/^Page size:\s+612 x 79\d/m);
    expect(await info('a-text.docx', 'docx', { paper_size: 'original', orientation: 'auto' })).to.match(/^Page size:\s+595\.\d+ x 841\.\d+/m);
  });

  it('sheet_per_page and fit_to_width change how sheets fall on pages', async () => {
    expect(await info('datasets.xlsx', 'xlsx', { sheet_per_page: true })).to.match(/^Pages:\s+4$/m);
    expect(await info('datasets.xlsx', 'xlsx', { paper_size: 'a5', fit_to_width: true })).not.to.equal(await info('datasets.xlsx', 'xlsx', { paper_size: 'a5' }));
  });

  it('pdf_a writes for archives, tagged for readers, bookmarks for those in a hurry', async () => {
    await info('a-text.docx', 'docx', { pdf_a: '2b' });
    expect(execFileSync('pdfinfo', ['-meta', join(folder, 'result.pdf')]).toString()).to.include('<pdfaid:part>2</pdfaid:part>');
    expect(await info('a-text.docx', 'docx', { tagged: false })).to.match(/^Tagged:\s+no$/m);
    expect(await info('a-text.docx', 'docx', {})).to.match(/^Tagged:\s+yes$/m);
    expect((await convert('officer.pptx', 'pptx', 'pdf')).bytes.includes('/Outlines')).to.equal(true);
    expect((await convert('officer.pptx', 'pptx', 'pdf', { bookmarks: false })).bytes.includes('/Outlines')).to.equal(false);
  });

  it('image_quality and image_dpi make pictures smaller', async () => {
    const whole = await convert('officer.pptx', 'pptx', 'pdf', { image_quality: 100 });
    const small = await convert('officer.pptx', 'pptx', 'pdf', { image_quality: 10, image_dpi: '75' });
    expect(small.sizeBytes).to.be.lessThan(whole.sizeBytes);
  });

  it('notes adds a page for each slide', async () => {
    expect(await info('officer.pptx', 'pptx', {})).to.match(/^Pages:\s+3$/m);
    expect(await info('officer.pptx', 'pptx', { notes: true })).to.match(/^Pages:\s+6$/m);
  });

  it('page, dpi and width choose and size the picture of a slide, and pages what is in an archive', async () => {
    const [first, second] = [await convert('officer.pptx', 'pptx', 'png', { width: 400 }), await convert('officer.pptx', 'pptx', 'png', { page: 2, width: 400 })];
    expect(imageSize(first.bytes).width).to.equal(400);
    expect(first.bytes.equals(second.bytes)).to.equal(false);
    expect(await failureOf(convert('officer.pptx', 'pptx', 'jpg', { page: 99 }))).to.equal('page_not_found');
    expect(members((await convert('officer.pptx', 'pptx', 'zip', { pages: '2-3', dpi: 20 })).bytes, /\.png$/)).to.have.length(2);
  });

  describe('password and result_password', () => {
    for (const [sample, input, output] of [['a-text.docx', 'docx', 'odt'], ['doc.doc', 'doc', 'docx'], ['xls.xls', 'xls', 'xlsx'], ['xls.xls', 'xls', 'ods'], ['odp.odp', 'odp', 'pptx']] as const) {
      it(`protect ${output}, and open it again`, async () => {
        const { bytes } = await convert(sample, input, output, { result_password: 'gehéim "x"' });
        expect(await failureOf(convert(bytes, output, 'pdf'))).to.equal('password_required');
        expect(await failureOf(convert(bytes, output, 'pdf', { password: 'other' }))).to.equal('wrong_password');
        expect((await convert(bytes, output, 'pdf', { password: 'gehéim "x"' })).bytes.subarray(0, 5).toString()).to.equal('%PDF-');
      });
    }

    it('protect a PDF, for which PDF/A gives way', async () => {
      const path = join(folder, 'protected.pdf');
      await writeFile(path, (await convert('a-text.docx', 'docx', 'pdf', { result_password: 'geheim', pdf_a: '2b' })).bytes);
      expect(() => execFileSync('pdfinfo', [path], { stdio: 'pipe' })).to.throw(/Incorrect password/);
      expect(execFileSync('pdfinfo', ['-upw', 'geheim', path]).toString()).to.match(/^Encrypted:\s+yes/m);
    });

    it('are told apart for a doc that somebody else protected', async () => {
      expect(await failureOf(convert('PasswordProtected.doc', 'doc', 'pdf'))).to.equal('password_required');
      expect(await failureOf(convert('PasswordProtected.doc', 'doc', 'pdf', { password: 'x' }))).to.equal('wrong_password');
    });
  });
});
