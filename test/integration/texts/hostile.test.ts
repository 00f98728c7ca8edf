import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { strToU8, zipSync } from 'fflate';
import type { FormatName } from '../../../shared/domain/catalogue/formats.ts';
import { convertIn, failureOf, type Converted } from '../../contract/engine/suite.ts';
import { members } from '../../engines/readers/words.ts';
import { fixturePath } from '../../support/fixtures.ts';
import { openTexts, type Texts } from '../../support/texts.ts';

/** The office program starts anew for each document, on a busy machine. */
const TIMEOUT_MS = 90_000;

/** Time in which what can be known before anything is converted must be known, on a busy machine. */
const REFUSED_MS = 15_000;

const CONTAINER = '<container><rootfiles><rootfile full-path="a.opf"/></rootfiles></container>';
const PACKAGE = '<package><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>';

function book(files: Readonly<Record<string, string>>, chapter = '<html><body><p>a chapter</p></body></html>'): Buffer {
  const all = { mimetype: 'application/epub+zip', 'META-INF/container.xml': CONTAINER, 'a.opf': PACKAGE, 'a.xhtml': chapter, ...files };
  return Buffer.from(zipSync(Object.fromEntries(Object.entries(all).map(([name, text]) => [name, [strToU8(text), { level: name === 'mimetype' ? 0 : 9 }]]))));
}

function textOf(pdf: Buffer): string {
  return execFileSync('pdftotext', ['-', '-'], { input: pdf }).toString();
}

function picturesOf(pdf: Buffer): number {
  return execFileSync('pdfimages', ['-list', '-'], { input: pdf }).toString().trim().split('\n').length - 2;
}

describe('hostile texts', function () {
  this.timeout(TIMEOUT_MS);
  let texts: Texts;
  let listener: Server;
  let hits: number;
  before(async () => {
    texts = await openTexts();
    listener = createServer((_, response) => {
      hits += 1;
      response.end();
    });
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
  });
  beforeEach(() => (hits = 0));
  after(async () => {
    listener.close();
    await texts.stop();
  });

  const converting = (source: string | Buffer, input: FormatName, output: FormatName, timeLimitMs = TIMEOUT_MS): Promise<Converted> => convertIn(texts.sandbox, texts.engine, { source, input, output, timeLimitMs });

  it('that refer to other places and files get nothing of them, in every form (§8)', async () => {
    const { port } = listener.address() as AddressInfo;
    const there = `http://127.0.0.1:${port}`;
    const page = `<html><head><link rel="stylesheet" href="${there}/a.css"><style>@import "${there}/b.css"; body { background: url(${there}/c.png) }</style><base href="${there}/"></head>
<body background="${there}/d.png"><p>innocent words</p><img src="${there}/e.png"><img src="file:///etc/hostname"><img src="source"><iframe src="file:///etc/passwd"></iframe><object data="${there}/f"></object>
<svg><image xlink:href="${there}/g.png"/></svg><div style="background-image:url(${there}/h.png)">x</div><sdfield type="docinfo"></sdfield><a href="file:///etc/passwd">l</a></body></html>`;
    const pdf = (await converting(Buffer.from(page), 'html', 'pdf')).bytes;
    expect(textOf(pdf)).to.include('innocent words').and.not.match(/root:|etc\/passwd/);
    expect(picturesOf(pdf)).to.equal(0);
    const docx = (await converting(Buffer.from(page), 'html', 'docx')).bytes;
    expect(members(docx, /\.rels$/).join('')).not.to.match(/127\.0\.0\.1|etc\/|file:/);
    await converting(Buffer.from(`words ![a](${there}/a.png) ![b](/etc/passwd) <img src="${there}/c.png">`), 'md', 'odt');
    expect((await converting(book({}, `<html><body><p>words</p><img src="${there}/a.png"/><img src="../../../../etc/passwd"/><img src="/etc/passwd"/></body></html>`), 'epub', 'pdf')).bytes.length).to.be.greaterThan(0);
    expect(hits).to.equal(0);
  });

  it('have honest twins that keep the picture they carry (§8)', async () => {
    const [, data = ''] = /\((data:image\/png;base64,[^)]*)\)/.exec(await readFile(fixturePath('guide.md'), 'utf8')) ?? [];
    const page = Buffer.from(`<html><body><p>innocent words</p><img src="${data}"></body></html>`);
    expect(picturesOf((await converting(page, 'html', 'pdf')).bytes)).to.equal(1);
    expect(picturesOf((await converting('book.epub', 'epub', 'pdf')).bytes)).to.equal(1);
  });

  for (const [name, source, input] of [
    ['a picture', 'debian.png', 'txt'],
    ['a playlist', Buffer.from('#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n'), 'txt'],
    ['a playlist behind a mark', Buffer.from('\uFEFF#EXTM3U\nfile:///etc/passwd\n', 'utf16le'), 'csv'],
    ['a NUL far behind', Buffer.concat([Buffer.alloc(100_000, 'a'), Buffer.from([0]), Buffer.alloc(100, 'a')]), 'md'],
    ['a program', Buffer.from('\x7fELF\x02\x01\x01\0\0\0\0'), 'html'],
  ] as const) {
    it(`are refused where they are none: ${name} as ${input}`, async () => {
      const startedAt = performance.now();
      expect(await failureOf(converting(source, input, 'pdf'))).to.equal('not_what_it_claims');
      expect(performance.now() - startedAt).to.be.below(REFUSED_MS);
    });
  }

  it('of a hundred million characters in one line are refused at once, and a long line is converted', async () => {
    const startedAt = performance.now();
    expect(await failureOf(converting(Buffer.alloc(100_000_000, 'a'), 'txt', 'pdf'))).to.equal('too_much_text');
    expect(performance.now() - startedAt).to.be.below(REFUSED_MS);
    expect((await converting(Buffer.alloc(10_000, 'word '), 'txt', 'docx')).sizeBytes).to.be.greaterThan(0);
  });

  it('nested without end are refused, and nested deeply are converted', async () => {
    expect(await failureOf(converting(Buffer.from('<div>'.repeat(1_000_000)), 'html', 'pdf'))).to.equal('damaged');
    expect(textOf((await converting(Buffer.from(`<html>${'<div><b>'.repeat(2_000)}<p>deep words</p>`), 'html', 'pdf')).bytes)).to.include('deep words');
    expect((await converting(Buffer.from(`${'> '.repeat(40)}deep words`), 'md', 'html')).bytes.toString()).to.include('deep words');
    expect((await converting(Buffer.from(`${'> '.repeat(30_000)}deep words`), 'md', 'html')).sizeBytes).to.be.below(10_000);
    expect((await converting(Buffer.from(`<html>${'<table><tr><td>'.repeat(500)}deep words`), 'html', 'md')).bytes.toString()).to.include('deep words');
  });

  it('that take too long are stopped', async () => {
    expect(await failureOf(converting('gpl3.txt', 'txt', 'html', 5))).to.equal('timeout');
  });

  it('as books are refused when they are bombs, cut off, protected or empty', async () => {
    const startedAt = performance.now();
    expect(await failureOf(converting(book({ 'b.xhtml': 'a'.repeat(50_000_000) }), 'epub', 'txt'))).to.equal('unpacks_too_large');
    const whole = await readFile(fixturePath('book.epub'));
    expect(await failureOf(converting(whole.subarray(0, whole.length / 2), 'epub', 'txt'))).to.equal('damaged');
    expect(await failureOf(converting(book({ 'META-INF/encryption.xml': '<encryption><EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes256-cbc"/></encryption>' }), 'epub', 'txt'))).to.equal('unsupported_feature');
    expect(await failureOf(converting(book({ 'a.opf': '<package/>' }), 'epub', 'txt'))).to.equal('damaged');
    expect(await failureOf(converting(book({ 'META-INF/container.xml': '<container><rootfiles><rootfile full-path="../../etc/passwd"/></rootfiles></container>' }), 'epub', 'txt'))).to.equal('damaged');
    expect(performance.now() - startedAt).to.be.below(REFUSED_MS * 5);
    expect((await converting(book({}), 'epub', 'txt')).bytes.toString()).to.equal('a chapter\n');
  });

  it('as books give a chapter once, however often they name it, and two chapters in their order', async () => {
    const items = ['a', 'b'].map((id) => `<item id="${id}" href="${id}.xhtml" media-type="application/xhtml+xml"/>`).join('');
    const again = ['a', 'b'].map((id) => `<item id="${id}${id}" href="./${id}.xhtml#x" media-type="application/xhtml+xml"/>`).join('');
    const contents = `<package><manifest>${items}${again}</manifest><spine>${['b', 'a', 'aa', 'bb'].map((id) => `<itemref idref="${id}"/>`).join('').repeat(1_000)}</spine></package>`;
    const files = { 'a.opf': contents, 'b.xhtml': '<html><body><p>another one</p></body></html>' };
    expect((await converting(book(files), 'epub', 'txt')).bytes.toString().trim().split(/\n+/)).to.deep.equal(['another one', 'a chapter']);
  });

  it('as books do not expand entities of their own', async () => {
    const entities = `<!DOCTYPE html [<!ENTITY a "lollollol">${'bcdefghi'.split('').map((name, index) => `<!ENTITY ${name} "${`&${'abcdefgh'[index] ?? ''};`.repeat(10)}">`).join('')}<!ENTITY x SYSTEM "file:///etc/passwd">]>`;
    expect(await failureOf(converting(book({}, `<?xml version="1.0"?>${entities}<html><body><p>words &i; &x;</p></body></html>`), 'epub', 'txt'))).to.equal('unsupported_feature');
    const honest = '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "http://www.w3.org/TR/xhtml11/DTD/xhtml11.dtd">';
    expect((await converting(book({}, `<?xml version="1.0"?>${honest}<html><body><p>words &amp; more&nbsp;&#8212;</p></body></html>`), 'epub', 'txt')).bytes.toString()).to.equal('words & more\u00A0—\n');
  });
});
