import { expect } from 'chai';
import { createOfficePool } from '../../../services/converter/engines/office/pool.ts';
import { createPdfEngine } from '../../../services/converter/engines/pdf/engine.ts';
import { createSandbox, type Sandbox } from '../../../services/converter/sandbox/sandbox.ts';
import type { FormatName } from '../../../shared/domain/catalogue/formats.ts';
import { convertIn, failureOf, type Converted } from '../../contract/engine/suite.ts';
import { cellTexts, members, wordsOf } from '../../engines/readers/words.ts';
import { fixturePath } from '../../support/fixtures.ts';
import { convertInPool, flatText } from '../../support/office.ts';
import { onePage } from '../../support/pdfs.ts';

/** Part of the words of a manual that must be in what is made of it; its running heads are kept once only. */
const RECALL_MIN = 0.97;

/** Two columns of prose below a title, as a text document. */
const PAPER = flatText(`<text:h text:outline-level="1">On the mending of roads</text:h><text:section text:style-name="Two" text:name="a">${paragraph('left', 25)}${paragraph('right', 25)}</text:section>`)
  .toString()
  .replace('<office:body>', '<office:automatic-styles><style:style style:name="Two" style:family="section"><style:section-properties><style:columns xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0" fo:column-count="2" fo:column-gap="20pt"/></style:section-properties></style:style></office:automatic-styles><office:body>');

/** A table with a head, words, numbers and days. */
const ROWS = [['Item', 'Price', 'Sold', 'Since'], ...Array.from({ length: 20 }, (_, index) => [`Sort ${index + 1} of apples`, `${index + 1},250.50`, `${index * 7}`, `2024-01-${String(index + 1).padStart(2, '0')}`])];
const TABLE = flatText(`<text:p>Sales of the year</text:p><table:table table:style-name="Wide"><table:table-column table:number-columns-repeated="4"/>${ROWS.map((cells) => `<table:table-row>${cells.map((cell) => `<table:table-cell><text:p>${cell}</text:p></table:table-cell>`).join('')}</table:table-row>`).join('')}</table:table>`)
  .toString()
  .replace('<office:body>', '<office:automatic-styles><style:style style:name="Wide" style:family="table"><style:table-properties style:width="440pt" table:align="left"/></style:style></office:automatic-styles><office:body>');

function paragraph(name: string, sentences: number): string {
  return `<text:p>${Array.from({ length: sentences }, (_, index) => `Sentence ${index + 1} of the ${name} part tells of roads and carts.`).join(' ')}</text:p>`;
}

/** Part of the words of one text that are in another, each as often as it is there. */
function recallOf(expected: readonly string[], found: readonly string[]): number {
  const left = new Map<string, number>();
  for (const word of found) left.set(word, (left.get(word) ?? 0) + 1);
  const there = expected.filter((word) => {
    const count = left.get(word) ?? 0;
    left.set(word, count - 1);
    return count > 0;
  });
  return there.length / expected.length;
}

describe('PDF to formats that people edit', function () {
  this.timeout(120_000);
  const office = createOfficePool({ slots: 1, isolation: 'shared' });
  const engine = createPdfEngine(office);
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await createSandbox({ mode: 'require' });
  });
  after(() => office.stop());

  const convert = (source: string | Buffer, output: FormatName, options = {}): Promise<Converted> => convertIn(sandbox, engine, { source, input: 'pdf', output, options, timeLimitMs: 60_000 });
  const printed = async (flat: Buffer | string): Promise<Buffer> => (await convertInPool(sandbox, office, { file: Buffer.from(flat), importFilter: 'OpenDocument Text Flat XML' })).bytes;

  it('makes a document of a manual of 36 pages: its words, titles, lists, links, and no boxes', async () => {
    const { bytes } = await convert('libtasn1.pdf', 'docx');
    const [xml = ''] = members(bytes, /^word\/document\.xml$/);
    const expected = (await wordsOf(fixturePath('libtasn1.pdf'), Buffer.alloc(0), 'pdf')) ?? [];
    expect(recallOf(expected, (await wordsOf('', bytes, 'docx')) ?? [])).to.be.at.least(RECALL_MIN);
    expect(xml.match(/<w:pStyle w:val="Heading\d"\/>/g)).to.have.length.within(25, 90);
    expect(xml.match(/<w:numPr>/g)).to.have.length.greaterThan(40);
    expect(xml).not.to.match(/w:txbxContent|w:framePr/);
    expect(members(bytes, /^word\/_rels\/document\.xml\.rels$/).join('')).to.include('mailto:help-libtasn1@gnu.org');
  });

  it('makes one slide of each page, with its title and its texts', async () => {
    const { bytes } = await convert('libtasn1.pdf', 'pptx', { pages: '4-9' });
    const slides = members(bytes, /^ppt\/slides\/slide\d+\.xml$/);
    expect(slides).to.have.length(6);
    expect(slides[0]).to.match(/<p:ph type="title"\/>/).and.match(/Introduction/);
    // A page of text is a few frames, not one for each line.
    for (const slide of slides) expect((slide.match(/<p:txBody>/g) ?? []).length).to.be.within(1, 30);
  });

  it('makes a sheet of a table, its numbers and days such as a spreadsheet reckons with', async () => {
    const pdf = await printed(TABLE);
    const { bytes } = await convert(pdf, 'xlsx');
    const [sheet = []] = cellTexts(bytes);
    const texts = sheet.map((cells) => cells.map((cell) => cell.trim()));
    expect(texts.some((cells) => cells[0] === 'Item' && cells[3] === 'Since')).to.equal(true);
    const [xml = ''] = members(bytes, /^xl\/worksheets\/sheet1\.xml$/);
    for (const value of ['1250.5', '20250.5', '133']) expect(xml).to.include(`<v>${value}</v>`);
    expect(sheet.filter((cells) => /^Sort \d+ of apples$/.test(cells[0] ?? ''))).to.have.length(20);
    expect(members((await convert(pdf, 'docx')).bytes, /^word\/document\.xml$/).join('').match(/<w:tr[ >]/g)).to.have.length(ROWS.length);
  });

  it('reads columns one after the other', async () => {
    const { bytes } = await convert(await printed(PAPER), 'md');
    const text = bytes.toString('utf8').replaceAll(/\s+/g, ' ');
    expect(text).to.match(/^# On the mending of roads/);
    const places = [/Sentence 1 of the left/, /Sentence 25 of the left/, /Sentence 1 of the right/, /Sentence 25 of the right/].map((sentence) => text.search(sentence));
    expect(places, text).to.deep.equal(places.toSorted((a, b) => a - b)).and.not.include(-1);
  });

  it('takes pictures along, each in its place', async () => {
    const image = Buffer.from([0xff, 0, 0, 0, 0xff, 0, 0, 0, 0xff, 0xff, 0xff, 0]);
    const source = onePage('beside a picture) Tj ET q 200 0 0 100 72 500 cm /P Do Q BT /F 18 Tf 72 400 Td (below a picture', {
      page: '/Resources <</Font <</F 5 0 R>> /XObject <</P 6 0 R>>>>',
      objects: [Buffer.concat([Buffer.from('<</Type /XObject /Subtype /Image /Width 2 /Height 2 /ColorSpace /DeviceRGB /BitsPerComponent 8 /Length 12>>\nstream\n'), image, Buffer.from('\nendstream')])],
    });
    expect((await convert(source, 'html')).bytes.toString('utf8')).to.match(/beside a picture[^]*<img [^>]*src="data:image\/png;base64,[^]*below a picture/);
    expect(members((await convert(source, 'docx')).bytes, /^word\/media\//)).to.have.length(1);
  });

  it('says that there is no text in pages of pictures', async () => {
    for (const output of ['docx', 'html'] as const) expect(await failureOf(convert(onePage(' '), output))).to.equal('no_text');
  });

  it('writes nothing of a file as markup, and only links of the web', async () => {
    const source = onePage('<script>alert\\(1\\)</script> &amp; <b>', {
      page: '/Annots [<</Type /Annot /Subtype /Link /Rect [60 690 500 730] /A <</S /URI /URI (javascript:alert\\(1\\))>>>>]',
    });
    const html = (await convert(source, 'html')).bytes.toString('utf8');
    expect(html).to.include('&lt;script&gt;alert(1)&lt;/script&gt;').and.not.match(/javascript:|<script/);
    expect((await convert(source, 'md')).bytes.toString('utf8')).not.to.match(/javascript:/);
  });
});
