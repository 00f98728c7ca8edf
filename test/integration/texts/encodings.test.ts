import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { openTexts, type Texts } from '../../support/texts.ts';

/** The office program starts anew for each document, on a busy machine. */
const TIMEOUT_MS = 90_000;

const utf16be = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16();

describe('texts in other encodings', function () {
  this.timeout(TIMEOUT_MS);
  let texts: Texts;
  before(async () => {
    texts = await openTexts();
  });
  after(() => texts.stop());

  const convert: Texts['convert'] = (...asked) => texts.convert(...asked);

  for (const [name, source, options] of [
    ['utf-8', Buffer.from('Crème — 100 €\n'), {}],
    ['utf-8 with a mark', Buffer.from('\uFEFFCrème — 100 €\n'), {}],
    ['utf-16 with a mark', Buffer.from('\uFEFFCrème — 100 €\r\n', 'utf16le'), {}],
    ['utf-16 the other way round', utf16be('\uFEFFCrème — 100 €\n'), {}],
    ['windows-1252 that nobody names', Buffer.from('Cr\xe8me \x97 100 \x80\r', 'latin1'), {}],
    ['iso-8859-15 by option', Buffer.from('Cr\xe8me - 100 \xa4\n', 'latin1'), { input_encoding: 'iso-8859-15' }],
  ] as const) {
    it(`are read in ${name}`, async () => {
      const html = (await convert(source, 'txt', 'html', options)).toString().replace('-', '—');
      expect(html.match(/<pre[^>]*>([^]*)<\/pre>/)?.[1]?.replace('-', '—')).to.equal('Crème — 100 €\n');
    });
  }

  it('become documents as what they say', async () => {
    const pdf = await convert(Buffer.from('\uFEFFПривет, мир\n', 'utf16le'), 'txt', 'pdf');
    expect(execFileSync('pdftotext', ['-', '-'], { input: pdf }).toString().trim()).to.equal('Привет, мир');
  });

  it('are read as a page says of itself', async () => {
    const page = Buffer.concat([Buffer.from('<html><meta charset="koi8-r"><p>'), Buffer.from([0xf0, 0xd2, 0xc9]), Buffer.from('</p></html>')]);
    expect((await convert(page, 'html', 'txt')).toString()).to.equal('При\n');
  });

  it('are written in the bytes, the line ends and with the mark that were asked for', async () => {
    const words = 'This is a text from LibreOffice Writer...';
    const plain = await convert('a-text.docx', 'docx', 'txt');
    expect(plain.toString()).to.match(/^This is a text from LibreOffice Writer\.\.\.\n/).and.not.include('\r');
    const marked = await convert('a-text.docx', 'docx', 'txt', { encoding: 'utf-16be', line_endings: 'crlf' });
    expect(marked.subarray(0, 2)).to.deep.equal(Buffer.from([0xfe, 0xff]));
    expect(marked.subarray(2, 2 + words.length * 2 + 4)).to.deep.equal(utf16be(`${words}\r\n`));
    expect((await convert(Buffer.from('# café €'), 'md', 'txt', { encoding: 'windows-1252', bom: true }))).to.deep.equal(Buffer.from('caf\xe9 \x80\n', 'latin1'));
    expect((await convert(Buffer.from('# é'), 'md', 'txt', { bom: true }))).to.deep.equal(Buffer.from('\uFEFFé\n'));
  });
});
