import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { EngineFailure } from '../../../services/converter/engines/failure.ts';
import { declaredCharset, isXhtml } from '../../../services/converter/engines/office/texts/html/charset.ts';
import { cleanPage } from '../../../services/converter/engines/office/texts/html/clean.ts';
import { pageToMarkdown } from '../../../services/converter/engines/office/texts/html/markdown.ts';
import { pageToText } from '../../../services/converter/engines/office/texts/html/text.ts';
import { readMarkdown } from '../../../services/converter/engines/office/texts/markdown.ts';
import { fixturePath } from '../../support/fixtures.ts';

const HTML = { xml: false, pictures: true };
const bodyOf = (source: string): string => cleanPage(source, HTML).body;

/** A red dot. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC';

describe('a page that is made clean', () => {
  it('keeps what it says and how it is built', () => {
    const body = '<h1 id="top">A</h1>\n<p align="center">b <b>c</b> <i>d</i><br>&amp; é</p><ul><li>e</li></ul><table border="1"><tr><td colspan="2">f</td></tr></table><a href="https://example.com/?a=1&amp;b=2">g</a><a href="#top">h</a>';
    expect(bodyOf(`<!doctype html><html lang="fr"><head><title>T &amp; U</title></head><body>${body}</body></html>`)).to.equal(body);
    const page = cleanPage('<html lang="fr"><title>T &amp; U</title><p>x', HTML);
    expect([page.title, page.language, page.body]).to.deep.equal(['T & U', 'fr', '<p>x</p>']);
  });

  for (const [name, hostile] of [
    ['programs', '<script>alert(1)</script><p onclick="alert(1)">x</p><a href="javascript:alert(1)">x</a><a href=" jAvA&#x73;cript:alert(1)">x</a>'],
    ['pictures from elsewhere', '<img src="http://evil.test/a.png"><img src="//evil.test/a"><img src="file:///etc/passwd"><img src="a.png"><img srcset="http://evil.test/b 2x">'],
    ['drawings', `<svg><image href="http://evil.test/"/><script>alert(1)</script></svg><img src="data:image/svg+xml;base64,PHN2Zz4="><img src="data:image/png;base64,PHN2Zz4=">`],
    ['frames and players', '<iframe src="http://evil.test"></iframe><object data="file:///etc/passwd"></object><embed src="x"><video src="http://evil.test"></video><link rel="stylesheet" href="http://evil.test"><base href="http://evil.test">'],
    ['styles that fetch', '<p style="background: url(http://evil.test)">x</p><p style="color: red; background-image: \\75rl(http://evil.test)">x</p><style>@import "http://evil.test"; p { background: url(//evil.test) } @font-face { src: url(http://evil.test) }</style>'],
    ['refreshes and forms', '<meta http-equiv="refresh" content="0;url=http://evil.test"><form action="http://evil.test"><input name="a"><button formaction="http://evil.test">x</button></form>'],
    ['comments and templates', '<!-- http://evil.test --><template><img src="http://evil.test"></template><noscript><img src="http://evil.test"></noscript>'],
    ['attributes that break out', '<p title="&quot;><script>alert(1)</script>">x</p><img alt="&quot; onerror=&quot;alert(1)" src="http://evil.test/">'],
  ] as const) {
    it(`loses ${name} (§8)`, () => {
      const page = cleanPage(hostile, HTML);
      const written = `${page.styles}${page.body}`;
      expect(written).not.to.match(/evil\.test|passwd|<script|<svg|<iframe|<img|url\(|<p [^>]*on|href="\s*j|image\/svg/i);
    });
  }

  it('keeps pictures that it carries, and harmless styles', () => {
    const body = bodyOf(`<p style="color: red; background: url(x)"><img alt="dot" src="data:image/png;base64,${PNG}"></p>`);
    expect(body).to.equal(`<p style="color: red"><img src="data:image/png;base64,${PNG}" alt="dot"></p>`);
    expect(cleanPage('<style>/* a */ p.x { color: red; behavior: url(x) } @media print { p { color: blue } } h1 { font-weight: bold }</style>', HTML).styles).to.equal('p.x { color: red }\nh1 { font-weight: bold }');
  });

  it('says what a missing picture shows, and leaves pictures out where that was asked for', () => {
    expect(bodyOf('<p><img src="http://evil.test/a" alt="a &lt; cat"></p>')).to.equal('<p>a &lt; cat</p>');
    expect(cleanPage(`<p><img alt="dot" src="data:image/png;base64,${PNG}"></p>`, { xml: false, pictures: false }).body).to.equal('<p>dot</p>');
  });

  it('is well-formed whatever it was', () => {
    expect(bodyOf('<p>a<p>b<b>c</p><td>d<li>e</ul></div>&unknown; &lt; <unknown>f')).to.match(/^(?:<(\w+)>|<\/\w+>|[^<>])*$/);
  });

  it('may be nested a thousand times or have a million elements, within a bounded time', () => {
    const startedAt = performance.now();
    expect(bodyOf(`${'<div>'.repeat(5_000)}x`).match(/<div>/g)).to.have.length(100);
    expect(bodyOf('<p>x</p>'.repeat(200_000))).to.have.length(1_600_000);
    expect(() => bodyOf('<div>'.repeat(1_000_000))).to.throw(EngineFailure).with.property('code', 'damaged');
    expect(performance.now() - startedAt).to.be.below(10_000);
  });

  it('is read in the encoding and by the rules that it names', () => {
    expect(declaredCharset(Buffer.from('<meta http-equiv="Content-Type" content="text/html; charset=koi8-r">'))).to.equal('koi8-r');
    expect(declaredCharset(Buffer.from("<?xml version='1.0' encoding='iso-8859-2'?>"))).to.equal('iso-8859-2');
    expect(declaredCharset(Buffer.from('<p>'))).to.equal(undefined);
    expect(isXhtml('<?xml version="1.0"?>\n<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml">')).to.equal(true);
    expect(cleanPage('<html xmlns="x"><body><p><a id="x"/>y</p></body></html>', { xml: true, pictures: true }).body).to.equal('<p><a id="x"></a>y</p>');
  });
});

describe('a page as text', () => {
  it('has a line for each paragraph, marks before items, and tabs between cells', () => {
    const text = pageToText(cleanPage('<h1>A</h1><p>b  c<br>d <b>e</b>f</p><ul><li>g<ol start="3"><li>h</li><li>i</li></ol></li></ul><table><tr><th>j</th><td><p>k</p></td></tr><tr><td>l</td><td>m</td></tr></table><pre>n\n  o</pre>', HTML));
    expect(text).to.equal('A\n\nb c\nd ef\n\n- g\n  3. h\n  4. i\n\nj\tk\nl\tm\n\nn\n  o\n');
  });
});

describe('Markdown', () => {
  it('is read with its tables, code, and the title before it, and raw HTML is made clean', async () => {
    const page = readMarkdown(await readFile(fixturePath('guide.md'), 'utf8'), HTML);
    expect(page.title).to.equal('A short guide to tea');
    for (const part of ['<h2>What you need</h2>', '<em>Camellia sinensis</em>', '<strong>hot</strong>', '<s>never</s>', '<ol>', '<blockquote>', '<table', '<pre><code>water', '<img src="data:image/png;base64,']) expect(page.body).to.include(part);
    expect(readMarkdown('a <b onclick="x()">b</b> <script>c</script> [d](javascript:e)', HTML).body.trim()).to.equal('<p>a <b>b</b>  [d](javascript:e)</p>');
  });

  it('comes back as it was', async () => {
    const once = pageToMarkdown(readMarkdown(await readFile(fixturePath('guide.md'), 'utf8'), HTML));
    for (const part of ['# A short guide to tea', '## What you need', '*Camellia sinensis*', '**hot**', '~~never~~', '> Patience', '| Green | 75 | 2 |', '```\nwater -> leaves', '1.  whole ones']) expect(once).to.include(part);
    expect(pageToMarkdown(readMarkdown(once, HTML))).to.equal(once);
  });

  it('may be nested without end, within a bounded time', () => {
    const startedAt = performance.now();
    for (const deep of ['> '.repeat(50_000), '['.repeat(50_000), '*a '.repeat(50_000), `${'- '.repeat(20_000)}x`, '<b>'.repeat(9_000), '`'.repeat(50_000)]) readMarkdown(`${deep}x`, HTML);
    expect(performance.now() - startedAt).to.be.below(20_000);
  });

  it('made of a page keeps bars in cells and code as they are', () => {
    expect(pageToMarkdown(cleanPage('<table><tr><td>a|b</td><td>c<br>d</td></tr></table>', HTML))).to.equal('| a\\|b | c<br>d |\n| --- | --- |\n');
    expect(pageToMarkdown(cleanPage('<pre>a\n```\nb</pre>', HTML))).to.equal('````\na\n```\nb\n````\n');
  });
});
