import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { members } from '../../engines/readers/words.ts';
import { openTexts, type Texts } from '../../support/texts.ts';

/** The office program starts anew for each document, on a busy machine. */
const TIMEOUT_MS = 90_000;

describe('what a text is built of', function () {
  this.timeout(TIMEOUT_MS);
  let texts: Texts;
  before(async () => {
    texts = await openTexts();
  });
  after(() => texts.stop());

  const convert: Texts['convert'] = (...asked) => texts.convert(...asked);

  it('survives from md to docx and back: headings, lists, a table, bold, code and a picture', async () => {
    const docx = await convert('guide.md', 'md', 'docx');
    const [document = ''] = members(docx, /^word\/document\.xml$/);
    expect(document).to.match(/<w:pStyle w:val="Heading1"\/>[^]*A short guide to tea/);
    expect(document.match(/<w:pStyle w:val="Heading2"\/>/g)).to.have.length(2);
    expect(document).to.match(/(?:<w:b\/>|w:val="Strong\w*")[^]{0,300}<w:t[^>]*>hot</);
    expect(document).to.include('<w:numPr>').and.include('<w:tbl>');
    expect(members(docx, /^word\/media\/.*\.png$/)).to.have.length(1);

    const md = (await convert(docx, 'docx', 'md')).toString();
    for (const part of ['# A short guide to tea\n', '## What you need\n', '**hot**', '*Camellia sinensis*', '-   Leaves', '    1.  whole ones for the pot', 'water -> leaves', '茶菓子', '![', 'data:image/png;base64,']) expect(md).to.include(part);
    expect(md).to.match(/\| Green \| 75 \| 2 \|/);
  });

  it('survives from md to a book and back, each heading a place in its contents', async () => {
    const epub = await convert('guide.md', 'md', 'epub');
    expect(epub.toString('latin1', 30, 58), 'the first member says what it is').to.equal('mimetypeapplication/epub+zip');
    expect(members(epub, /^META-INF\/container\.xml$/)[0]).to.include('full-path="book/book.opf"');
    expect(members(epub, /\.opf$/)[0]).to.match(/<dc:title>A short guide to tea<\/dc:title>[^]*<itemref idref="chapter-1"\/>/);
    const md = (await convert(epub, 'epub', 'md')).toString();
    for (const part of ['## Temperatures', '**hot**', '| Oolong | 90 | 3 |', 'data:image/png;base64,']) expect(md).to.include(part);
  });

  it('survives from a book to docx in reading order, with its picture and its title', async () => {
    const docx = await convert('book.epub', 'epub', 'docx');
    const [document = ''] = members(docx, /^word\/document\.xml$/);
    expect(document).to.match(/>Leaves<[^]*by hand[^]*>Water<[^]*Soft water/);
    expect(members(docx, /^word\/media\/.*\.png$/)).to.have.length(1);
    expect(members(docx, /^docProps\/core\.xml$/)[0]).to.include('The tea book &amp; more');
  });

  it('becomes one page with its pictures inside, that refers to no file', async () => {
    const html = (await convert(await convert('guide.md', 'md', 'odt'), 'odt', 'html')).toString();
    expect(html).to.match(/^<!DOCTYPE html>/).and.include('data:image/png;base64,').and.match(/<h1\b[^>]*>\s*A short guide to tea/);
    expect(html.match(/\b(?:src|href)="(?!data:|#|https:|mailto:)/g)).to.equal(null);
    expect((await convert(await convert('guide.md', 'md', 'odt'), 'odt', 'html', { images: 'omit' })).toString()).not.to.include('data:');
  });

  it('is seen in a pdf, with the picture that the page carries', async () => {
    const pdf = await convert('guide.md', 'md', 'pdf');
    expect(execFileSync('pdftotext', ['-', '-'], { input: pdf }).toString()).to.include('Crème brûlée');
    expect(execFileSync('pdfimages', ['-list', '-'], { input: pdf }).toString()).to.match(/image\s+16\s+16/);
  });

  it('is the whole text where it becomes a book without headings', async () => {
    const [chapter = ''] = members(await convert('gpl3.txt', 'txt', 'epub'), /^book\/chapter-1\.xhtml$/);
    expect(chapter).to.include('GNU GENERAL PUBLIC LICENSE').and.include('<p>');
  });
});
