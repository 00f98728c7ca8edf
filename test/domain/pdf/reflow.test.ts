import { expect } from 'chai';
import { textOfRuns, type Block, type PageContent, type Picture } from '../../../services/converter/engines/pdf/reflow/model.ts';
import { reflow } from '../../../services/converter/engines/pdf/reflow/reflow.ts';
import { line, lines, page } from '../../support/laid-out.ts';

/** Lines of prose, each about as wide as the others. */
const PROSE = ['The committee met in the morning and talked about', 'the roads of the county, which had been in a bad', 'state since the winter before, and about whether to', 'mend them now or to wait for the new budget that', 'would be there in the autumn of the following year.'];
const OTHER = ['Nobody had asked the farmers, whose carts used the', 'roads most, and who had sent letters about them to', 'every paper of the county for as long as anybody of', 'the committee was able to remember, and longer than', 'that, as one of them had said to the chair in person.'];

function blocksOf(...pages: readonly PageContent[]): readonly Block[] {
  return reflow(pages).pages.flatMap(({ blocks }) => blocks);
}

function picture(left: number, top: number, right: number, bottom: number): Picture {
  return { left, top, right, bottom, mime: 'image/png', bytes: Buffer.alloc(1) };
}

/** What a reader would say of a block. */
function tell(block: Block): unknown {
  switch (block.kind) {
    case 'heading':
      return `h${block.level} ${textOfRuns(block.runs)}`;
    case 'paragraph':
      return `p ${textOfRuns(block.runs)}`;
    case 'list':
      return block.items.map(({ level, numbering, number, runs }) => `${level} ${numbering} ${number} ${textOfRuns(runs)}`);
    case 'table':
      return block.rows.map((cells) => cells.map((runs) => textOfRuns(runs)));
    case 'picture':
      return 'picture';
  }
}

describe('what is found out about a page of words', () => {
  it('joins lines to paragraphs, and parts paragraphs where a line ends early', () => {
    const words = lines([...PROSE, 'in the end.', 'A new thought.', ...OTHER], 60, 100);
    expect(blocksOf(page(words)).map((block) => tell(block))).to.deep.equal([`p ${PROSE.join(' ')} in the end.`, 'p A new thought.', `p ${OTHER.join(' ')}`]);
  });

  it('puts words together that a line had broken, and keeps the hyphen of a name', () => {
    const words = lines(['There is no need for any further manip-', 'ulation of what was written by the Anglo-', 'Saxon poets of that time, as far as known'], 60, 100);
    expect(blocksOf(page(words)).map((block) => tell(block))).to.deep.equal(['p There is no need for any further manipulation of what was written by the Anglo-Saxon poets of that time, as far as known']);
  });

  it('tells titles by the size of their letters, and by bold letters where they are as large as the text', () => {
    const words = [line('Report of the year', 60, 60, { size: 24 }), line('Roads', 60, 110, { size: 16 }), lines(PROSE, 60, 140), line('Bridges and fords', 60, 230, { bold: true }), lines(OTHER, 60, 250)];
    expect(blocksOf(page(...words)).map((block) => tell(block))).to.deep.equal(['h1 Report of the year', 'h2 Roads', `p ${PROSE.join(' ')}`, 'h3 Bridges and fords', `p ${OTHER.join(' ')}`]);
  });

  it('makes lists of lines with bullets and numbers, their further lines and levels included', () => {
    const words = [line('\u2022 The first of them is so long that it needs one more', 60, 100), line('line of its own', 67.5, 113), line('\u2022 second', 60, 126), line('\u2013 inner', 80, 139), line('3. three', 60, 165), line('4. four', 60, 178)];
    expect(blocksOf(page(...words)).flatMap((block) => tell(block))).to.deep.equal([
      '0 bullet 1 The first of them is so long that it needs one more line of its own', '0 bullet 1 second', '1 bullet 1 inner', '0 1 3 three', '0 1 4 four',
    ]);
  });

  it('reads two columns one after the other, and what crosses them in its place', () => {
    const words = [line('A title over both of the columns of this page here', 60, 60, { size: 16 }), lines(PROSE, 60, 100), lines(OTHER, 330, 103)];
    expect(blocksOf(page(...words)).map((block) => tell(block))).to.deep.equal(['h1 A title over both of the columns of this page here', `p ${PROSE.join(' ')}`, `p ${OTHER.join(' ')}`]);
  });

  it('makes a table of words that stand below each other, its head and empty cells included', () => {
    const rows = [['Name', 'Amount', 'Date'], ['Apples', '1,234.50', '2024-01-05'], ['Pears and plums', '', '2024-02-06'], ['Figs', '12', '2024-03-07']];
    const words = rows.flatMap((cells, row) => cells.flatMap((cell, column) => (cell === '' ? [] : line(cell, 60 + column * 150, 200 + row * 16))));
    expect(blocksOf(page(lines(PROSE, 60, 100), words)).map((block) => tell(block))).to.deep.equal([`p ${PROSE.join(' ')}`, rows]);
  });

  it('keeps words in one cell that begin every row', () => {
    const rows = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) => [`Part ${number} of many`, `${number * 10}`]);
    const words = rows.flatMap((cells, row) => cells.flatMap((cell, column) => line(cell, 60 + column * 200, 100 + row * 16)));
    expect(blocksOf(page(words)).map((block) => tell(block))).to.deep.equal([rows]);
  });

  it('takes no gap of a justified line and no list for a table', () => {
    const wide = [...line('The committee met in the', 60, 113), ...line('morning and talked about', 220, 113)];
    const words = [line(PROSE[1] ?? '', 60, 100), wide, line(PROSE[2] ?? '', 60, 126), line('\u2022 one', 60, 160), line('\u2022 two', 60, 173)];
    expect(blocksOf(page(...words)).map(({ kind }) => kind)).not.to.include('table');
  });

  it('takes running heads and page numbers off the pages and keeps them once', () => {
    const pages = [1, 2, 3, 4].map((number) => page(line(`Roads of the county ${number}`, 60, 40), lines(PROSE, 60, 100)));
    const { header, footer, pages: flowing } = reflow(pages);
    expect({ header, footer }).to.deep.equal({ header: 'Roads of the county #', footer: undefined });
    expect(flowing.flatMap(({ blocks }) => blocks.map((block) => tell(block)))).to.deep.equal(pages.map(() => `p ${PROSE.join(' ')}`));
  });

  it('leaves the head of a table that stands at the top of each page where it is', () => {
    const pages = [1, 2, 3].map(() => page(line('Name', 60, 60), line('Amount', 200, 60), line('Figs', 60, 74), line('12', 200, 74), line('Nuts', 60, 88), line('7', 200, 88)));
    expect(blocksOf(...pages).map((block) => tell(block))).to.deep.equal(pages.map(() => [['Name', 'Amount'], ['Figs', '12'], ['Nuts', '7']]));
  });

  it('leaves out the paper below recognised text, and keeps a picture between the paragraphs around it', () => {
    const content = { ...page(lines(PROSE, 60, 100), lines(OTHER, 60, 400)), pictures: [picture(0, 0, 595, 842), picture(60, 200, 300, 350), picture(10, 10, 12, 12)] };
    expect(blocksOf(content).map(({ kind }) => kind)).to.deep.equal(['paragraph', 'picture', 'paragraph']);
  });

  it('makes nothing of nothing', () => {
    expect(blocksOf(page())).to.deep.equal([]);
  });
});
