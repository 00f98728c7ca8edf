import { execFileSync } from 'node:child_process';
import { deflateSync } from 'node:zlib';
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { unzipSync } from 'fflate';
import { imageSize } from 'image-size';
import { createOfficePool } from '../../../services/converter/engines/office/pool.ts';
import { createPdfEngine } from '../../../services/converter/engines/pdf/engine.ts';
import { createSandbox, type Sandbox } from '../../../services/converter/sandbox/sandbox.ts';
import { convertIn, failureOf, type Conversion, type Converted } from '../../contract/engine/suite.ts';
import { fixturePath } from '../../support/fixtures.ts';
import { onePage, pdfOf, pdfStream } from '../../support/pdfs.ts';

/** A file that needs a password, and a password. */
const LOCKED = 'a-text-pass-peanuts.pdf';
const PASSWORD = 'peanuts';

/** Objects that are not the first page's: what a document of hostile actions is made of. */
const ACTIONS = [
  '<</S /Launch /F (/bin/touch) /Win <</F (cmd.exe) /P (/c calc)>> >>',
  '<</S /JavaScript /JS (app.launchURL\\("http://127.0.0.1:9/"\\); this.exportDataObject\\({cName: "a", nLaunch: 2}\\);) >>',
  '<</S /URI /URI (http://127.0.0.1:9/) >>',
  '<</Type /Filespec /F (a.exe) /EF <</F 10 0 R>> >>',
  pdfStream('MZ planted-program', '/Type /EmbeddedFile'),
];

function textOf(pdf: Buffer): string {
  return execFileSync('pdftotext', ['-', '-'], { input: pdf }).toString();
}

describe('conversions of PDF', function () {
  this.timeout(60_000);
  // No test here needs it: it never starts anything.
  const engine = createPdfEngine(createOfficePool({ slots: 1, isolation: 'shared' }));
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await createSandbox({ mode: 'require' });
  });

  const convert = (conversion: Omit<Conversion, 'input'>): Promise<Converted> => convertIn(sandbox, engine, { input: 'pdf', ...conversion });

  it('draws the page that is asked for, as large as it is asked for', async () => {
    const [plain, wide, fine] = await Promise.all([
      convert({ source: 'a-text.pdf', output: 'png', options: { page: 2, dpi: 72 } }),
      convert({ source: 'a-text.pdf', output: 'jpg', options: { width: 300 } }),
      convert({ source: 'a-text.pdf', output: 'webp', options: { dpi: 300, grayscale: true } }),
    ]);
    expect([plain, wide, fine].map(({ bytes }) => imageSize(bytes).width)).to.deep.equal([596, 300, 2481]);
  });

  it('takes ranges of pages, in their order, to PDF, text and archives of pictures', async () => {
    const [pdf, text, zip] = await Promise.all([
      convert({ source: 'libtasn1.pdf', output: 'pdf', options: { pages: '36-,4' } }),
      convert({ source: 'a-text.pdf', output: 'txt', options: { pages: '2' } }),
      convert({ source: 'libtasn1.pdf', output: 'zip', options: { pages: '3,1-2,2', dpi: 40, image_format: 'jpg', quality: 50 } }),
    ]);
    expect(execFileSync('pdfinfo', ['-'], { input: pdf.bytes }).toString()).to.match(/^Pages:\s+2$/m).and.match(/^Optimized:\s+yes$/m);
    expect(textOf(pdf.bytes)).to.include('1 Introduction');
    expect(text.bytes.toString('utf8')).to.include('This is the second page.').and.not.include('Writer');
    expect(Object.entries(unzipSync(zip.bytes)).map(([name, picture]) => [name, imageSize(picture).type])).to.deep.equal([['page-003.jpg', 'jpg'], ['page-001.jpg', 'jpg'], ['page-002.jpg', 'jpg']]);
  });

  it('says that there is no such page', async () => {
    for (const [output, options] of [['png', { page: 3 }], ['svg', { page: 3 }], ['txt', { pages: '3-' }], ['pdf', { pages: '2-1' }]] as const) {
      expect(await failureOf(convert({ source: 'a-text.pdf', output, options })), output).to.equal('page_not_found');
    }
  });

  it('opens a protected file with its password only, and says which of the two is missing', async () => {
    for (const output of ['txt', 'png', 'pdf', 'svg'] as const) {
      expect(await failureOf(convert({ source: LOCKED, output })), output).to.equal('password_required');
      expect(await failureOf(convert({ source: LOCKED, output, options: { password: 'walnuts' } })), output).to.equal('wrong_password');
    }
    const [text, picture, unlocked, needless] = await Promise.all([
      convert({ source: LOCKED, output: 'txt', options: { password: PASSWORD } }),
      convert({ source: LOCKED, output: 'png', options: { password: PASSWORD } }),
      convert({ source: LOCKED, output: 'pdf', options: { password: PASSWORD } }),
      convert({ source: 'a-text.pdf', output: 'txt', options: { password: PASSWORD } }),
    ]);
    expect(text.bytes.toString('utf8')).to.include('LibreOffice Writer');
    expect(imageSize(picture.bytes).width).to.equal(1241);
    expect(textOf(unlocked.bytes)).to.include('LibreOffice Writer');
    expect(needless.bytes).to.deep.equal(text.bytes);
  });

  it('copies text that its author forbids to copy only for whoever has a password', async () => {
    const forbidden = execFileSync('qpdf', ['--encrypt', '', 'owner', '256', '--extract=n', '--', fixturePath('a-text.pdf'), '-']);
    expect(await failureOf(convert({ source: forbidden, output: 'txt' }))).to.equal('password_required');
    expect(imageSize((await convert({ source: forbidden, output: 'png' })).bytes).width).to.equal(1241);
    expect((await convert({ source: forbidden, output: 'txt', options: { password: 'owner' } })).bytes.toString('utf8')).to.include('LibreOffice Writer');
  });

  it('says of pages that hold only pictures that there is no text', async () => {
    expect(await failureOf(convert({ source: onePage(' '), output: 'txt' }))).to.equal('no_text');
    expect((await convert({ source: onePage('words'), output: 'txt' })).bytes.toString('utf8')).to.include('words');
  });

  it('keeps columns with the option layout', async () => {
    const columns = onePage('left) Tj 300 0 Td (right');
    expect((await convert({ source: columns, output: 'txt', options: { layout: true } })).bytes.toString('utf8')).to.match(/left {3,}right/);
  });

  describe('of hostile files', () => {
    it('does nothing of what a file wants to have done, and converts its page', async () => {
      const source = onePage('honest words', { catalog: '/OpenAction 6 0 R /AA <</WC 7 0 R>> /Names <</EmbeddedFiles <</Names [(a) 9 0 R]>> /JavaScript <</Names [(b) 7 0 R]>> >>', page: '/AA <</O 8 0 R>>', objects: ACTIONS });
      const [text, picture, drawing] = await Promise.all([convert({ source, output: 'txt' }), convert({ source, output: 'png' }), convert({ source, output: 'svg' })]);
      expect(text.bytes.toString('utf8').trim()).to.equal('honest words');
      expect(imageSize(picture.bytes).type).to.equal('png');
      expect(drawing.bytes.toString('utf8')).not.to.match(/127\.0\.0\.1|planted|script/i);
    });

    it('refuses a document of more pages than anybody reads, and a page larger than a picture may be', async () => {
      const pages = Array.from({ length: 20_000 }, () => '<</Type /Page /Parent 2 0 R /MediaBox [0 0 9 9]>>');
      const many = pdfOf(['<</Type /Catalog /Pages 2 0 R>>', `<</Type /Pages /Kids [${pages.map((_, index) => `${index + 3} 0 R`).join(' ')}] /Count 20000>>`, ...pages]);
      const wide = onePage('far', { mediaBox: '0 0 1000000 1000000' });
      const [tooMany, tooWide, tooFine, tooWideInArchive] = await Promise.all([
        failureOf(convert({ source: many, output: 'txt' })),
        failureOf(convert({ source: wide, output: 'png' })),
        failureOf(convert({ source: 'a-text.pdf', output: 'png', options: { dpi: 1200 } })),
        failureOf(convert({ source: wide, output: 'zip' })),
      ]);
      expect([tooMany, tooWide, tooFine, tooWideInArchive]).to.deep.equal(['too_many_pages', 'too_many_pixels', 'too_many_pixels', 'too_many_pixels']);
    });

    it('ends on cross-references that lead to each other, and on page trees without end', async () => {
      const whole = onePage('loop').toString('latin1');
      const start = /startxref\n(\d+)/.exec(whole)?.[1] ?? '';
      const loop = Buffer.from(whole.replace('/Root 1 0 R', `/Root 1 0 R /Prev ${start}`), 'latin1');
      const tree = pdfOf(['<</Type /Catalog /Pages 2 0 R>>', '<</Type /Pages /Kids [2 0 R 2 0 R] /Count 2>>']);
      // A table that names itself as the one before it is repaired; that it ends is what counts.
      expect((await convert({ source: loop, output: 'txt' })).bytes.toString('utf8').trim()).to.equal('loop');
      expect(await failureOf(convert({ source: tree, output: 'png' }))).to.equal('damaged');
    });

    it('stops what unpacks without end within its time', async () => {
      const once = deflateSync(Buffer.alloc(200 * 1024 * 1024, '(x) Tj '), { level: 9 });
      const source = onePage('twin', { page: '/Contents 6 0 R', objects: [pdfStream(deflateSync(once), '/Filter [/FlateDecode /FlateDecode]')] });
      const startedAt = performance.now();
      await convert({ source, output: 'txt', timeLimitMs: 5_000 }).catch((error: unknown) => expect(error).to.have.property('code').that.is.oneOf(['timeout', 'out_of_memory', 'result_too_large', 'damaged', 'no_text']));
      expect(performance.now() - startedAt).to.be.lessThan(10_000);
    });

    it('says that a file without its end is damaged, wherever it was cut', async () => {
      const whole = await readFile(fixturePath('libtasn1.pdf'));
      for (const part of [0.1, 0.9]) expect(await failureOf(convert({ source: whole.subarray(0, whole.length * part), output: 'txt' }))).to.equal('damaged');
    });
  });
});
