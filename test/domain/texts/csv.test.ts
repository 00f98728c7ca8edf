import { expect } from 'chai';
import fc from 'fast-check';
import { quoteCell, writeCell } from '../../../services/converter/engines/office/texts/csv/cells.ts';
import { findDelimiter } from '../../../services/converter/engines/office/texts/csv/delimiters.ts';
import { readRows } from '../../../services/converter/engines/office/texts/csv/read.ts';
import { tableToCsv, tableToHtml } from '../../../services/converter/engines/office/texts/csv/table.ts';
import { EngineFailure } from '../../../services/converter/engines/failure.ts';

const rowsOf = (text: string, delimiter = ','): readonly (readonly string[])[] => [...readRows(text, delimiter)];

describe('rows of a csv', () => {
  it('are read with quotes, line ends inside cells, and every kind of line end', () => {
    expect(rowsOf('a,"b, c","d ""e"""\r\n"f\ng",,\rh,i,j\n')).to.deep.equal([['a', 'b, c', 'd "e"'], ['f\ng', '', ''], ['h', 'i', 'j']]);
  });

  it('are read where they are not as they should be', () => {
    expect(rowsOf('a"b,"c"d,"e')).to.deep.equal([['a"b', 'cd', 'e']]);
    expect(rowsOf('a,b,')).to.deep.equal([['a', 'b', '']]);
    expect(rowsOf('')).to.deep.equal([]);
  });

  it('come back as they were, whatever is in them', () => {
    const cells = fc.array(fc.array(fc.string({ unit: fc.constantFrom('a', ' ', '"', ',', ';', '\t', '\n', '\r', 'é') }), { minLength: 2, maxLength: 4 }), { minLength: 1, maxLength: 5 });
    fc.assert(fc.property(cells, fc.constantFrom(',', ';', '\t', '|'), (rows, delimiter) => {
      const text = rows.map((row) => row.map((cell) => quoteCell(cell, delimiter)).join(delimiter)).join('\r\n');
      expect(rowsOf(text, delimiter)).to.deep.equal(rows);
    }));
  });

  it('of a hundred thousand quotes take no time', () => {
    const startedAt = performance.now();
    expect(rowsOf(`"${'""'.repeat(1_000_000)}"\n${'a'.repeat(5_000_000)}`)).to.have.length(2);
    expect(performance.now() - startedAt).to.be.below(5_000);
  });
});

describe('the delimiter of a csv', () => {
  for (const [name, text, delimiter] of [
    ['commas', 'a,b\n1,2\n', ','],
    ['semicolons beside decimal commas', 'a;b\n1,5;2,5\n3,25;x\n', ';'],
    ['tabs', 'a\tb c, d\n1\t2\n', '\t'],
    ['bars', 'a|b|c\n1|2|3\n', '|'],
    ['quoted cells full of another', '"a,b,c";1\n"d,e,f";2\n', ';'],
    ['nothing at all', 'one\ntwo\n', ','],
    ['a line that names it', 'sep=|\r\na,b|c,d\r\n', '|'],
  ] as const) {
    it(`is found in ${name}`, () => {
      const found = findDelimiter(text);
      expect(found.delimiter).to.equal(delimiter);
      expect(found.text).not.to.match(/^sep=/);
    });
  }

  it('is what was asked for, before anything found', () => expect(findDelimiter('a,b\n1,2\n', 'semicolon').delimiter).to.equal(';'));
});

describe('cells of a csv that go into a workbook', () => {
  it('are numbers only where nothing is lost', () => {
    for (const number of ['0', '7', '-3', '12.5', '0.25', '123456789012345']) expect(writeCell(number, false), number).to.equal(number);
    for (const text of ['007', '1234567890123456', '1e5', '+5', '1,5', '2024-01-05', '50%', ' 1', '.5', 'x']) expect(writeCell(text, false), text).to.equal(`"${text}"`);
  });

  it('may be all that looks like a value where that was asked for', () => {
    for (const value of ['007', '1234567890123456', '2024-01-05', '50%', '+5', '-5%']) expect(writeCell(value, true), value).to.equal(value);
  });

  it('never become a formula', () => {
    for (const detect of [true, false]) {
      for (const formula of ['=1+1', '+1+1', '-1-1', '@SUM(A1)', '\t=1', ' =1', '\r=1', '=cmd|\'/c calc\'!A1', '+A1', '-A1', '"=1"']) expect(writeCell(formula, detect), formula).to.match(/^".*"$/s);
    }
  });
});

describe('a csv as another text', () => {
  it('has the delimiter and the line ends that were asked for', () => {
    expect(tableToCsv('a,"b;c"\n1,2\n', { delimiter: 'semicolon', line_endings: 'lf' })).to.equal('a;"b;c"\n1;2\n');
    expect(tableToCsv('a,b\n', {})).to.equal('a,b\r\n');
  });

  it('is a table of escaped cells as a page', () => {
    expect(tableToHtml('a,<script>\n', {})).to.include('<td>a</td><td>&lt;script&gt;</td>');
  });

  it('is refused with more cells than a sheet holds', () => {
    expect(() => tableToCsv('a\n'.repeat(4), { rows_max: 3 })).to.throw(EngineFailure).with.property('code', 'too_many_cells');
    expect(() => tableToCsv(`${','.repeat(16_384)}\n`, {})).to.throw(EngineFailure).with.property('code', 'too_many_cells');
    expect(tableToCsv('a\n'.repeat(3), { rows_max: 3 })).to.equal('a\r\n'.repeat(3));
  });
});
