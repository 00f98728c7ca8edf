import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { read, utils, write } from 'xlsx';
import type { FormatName } from '../../../shared/domain/catalogue/formats.ts';
import { convertIn, failureOf, type Converted } from '../../contract/engine/suite.ts';
import { openTexts, type Texts } from '../../support/texts.ts';

/** The office program starts anew for each document, on a busy machine. */
const TIMEOUT_MS = 90_000;

/** A workbook of two sheets with a formula, made by a library that has nothing to do with us. */
function workbook(): Buffer {
  const book = utils.book_new();
  const first = utils.aoa_to_sheet([['a', 'b'], [1.5, 'é; "x"'], [null, 'Ω']]);
  first['A3'] = { t: 'n', v: 3, f: 'A2*2' };
  utils.book_append_sheet(book, first, 'One');
  utils.book_append_sheet(book, utils.aoa_to_sheet([['second'], [7]]), '../../Two, "2"'.replaceAll(/[/]/g, '-'));
  return write(book, { type: 'buffer', bookType: 'xlsx' }) as Buffer;
}

describe('tables', function () {
  this.timeout(TIMEOUT_MS);
  let texts: Texts;
  before(async () => {
    texts = await openTexts();
  });
  after(() => texts.stop());

  const converting = (source: string | Buffer, input: FormatName, output: FormatName, options = {}): Promise<Converted> => convertIn(texts.sandbox, texts.engine, { source, input, output, options });
  const convert = async (source: string | Buffer, input: FormatName, output: FormatName, options = {}): Promise<Buffer> => (await converting(source, input, output, options)).bytes;

  for (const output of ['xlsx', 'xls', 'ods'] as const) {
    it(`of a csv keep leading zeros and long numbers as text in ${output}, plain numbers as numbers, and bring no formula`, async () => {
      const sheet = read(await convert('stock.csv', 'csv', output), { cellFormula: true, cellText: false }).Sheets;
      const cells = Object.values(sheet)[0] ?? {};
      const valueOf = (name: string): unknown => (cells[name] as { t: string; v: unknown; f?: string } | undefined)?.v;
      expect(['A2', 'A6', 'C2', 'C6', 'D2', 'B4', 'E3', 'E4', 'E5', 'E6'].map(valueOf)).to.deep.equal([
        '00123', '12345678901234567890', 24.5, -1.5, '2019-03-01', 'Tasse à thé', '=1+1', '+49 30 123456', 'two\nlines', '@home',
      ]);
      expect(Object.values(cells).filter((cell: unknown) => typeof cell === 'object' && cell !== null && 'f' in cell)).to.deep.equal([]);
    });
  }

  it('of a csv get dates and numbers where that was asked for, but never a formula', async () => {
    const book = read(await convert('stock.csv', 'csv', 'xlsx', { detect_numbers: true }), { cellDates: true });
    const cells = Object.values(book.Sheets)[0] ?? {};
    expect((cells['A2'] as { v: unknown }).v).to.equal(123);
    expect((cells['D2'] as { t: string }).t).to.equal('d');
    expect((cells['E3'] as { v: unknown; f?: string })).to.include({ v: '=1+1' }).and.not.have.property('f');
  });

  it('are read with the delimiter and the encoding that they have', async () => {
    const bytes = Buffer.from('name;wert\r\nM\xfcller;1,5\r\n"a;b";2\r\n', 'latin1');
    expect(utils.sheet_to_csv(Object.values(read(await convert(bytes, 'csv', 'xlsx')).Sheets)[0] ?? {})).to.equal('name,wert\nMüller,"1,5"\na;b,2');
    const html = (await convert(Buffer.from('a|b\n1|2\n'), 'csv', 'html', { delimiter: 'pipe' })).toString();
    expect(html).to.include('<tr><td>1</td><td>2</td></tr>');
    expect((await convert(Buffer.from('a|b\n'), 'csv', 'html', { delimiter: 'tab' })).toString()).to.include('<td>a|b</td>');
    expect(execFileSync('pdftotext', ['-', '-'], { input: await convert(bytes, 'csv', 'pdf') }).toString()).to.include('Müller');
  });

  it('of a csv get another delimiter and encoding, and keep their cells as they are', async () => {
    const bytes = Buffer.from('name;wert\r\nM\xfcller;007\r\n"a;b,c";=1+1\r\n', 'latin1');
    expect((await convert(bytes, 'csv', 'csv')).toString()).to.equal('name,wert\r\nMüller,007\r\n"a;b,c",=1+1\r\n');
    expect((await convert(bytes, 'csv', 'csv', { input_delimiter: 'semicolon', delimiter: 'tab', line_endings: 'lf' })).toString()).to.equal('name\twert\nMüller\t007\na;b,c\t=1+1\n');
    expect((await convert(Buffer.from('a|b\r\né\r\n'), 'txt', 'txt', { encoding: 'iso-8859-15' })).toString('latin1')).to.equal('a|b\n\xe9\n');
  });

  it('of a workbook are written as values, in the form that was asked for', async () => {
    expect((await convert(workbook(), 'xlsx', 'csv')).toString()).to.equal('a,b\r\n1.5,"é; ""x"""\r\n3,Ω\r\n');
    expect((await convert(workbook(), 'xlsx', 'csv', { delimiter: 'tab', line_endings: 'lf', bom: true })).toString()).to.equal('\uFEFFa\tb\n1.5\t"é; ""x"""\n3\tΩ\n');
    expect(await convert(workbook(), 'xlsx', 'csv', { delimiter: 'semicolon', encoding: 'windows-1252' })).to.deep.equal(Buffer.from('a;b\r\n1.5;"\xe9; ""x"""\r\n3;?\r\n', 'latin1'));
  });

  it('of a workbook show numbers as the sheet does, or in full where that was asked for', async () => {
    const cells = utils.aoa_to_sheet([['ratio', 'share', 'sum', 'exact', 'day']]);
    cells['A2'] = { t: 'n', v: 9.87654321098765, z: '0.00' };
    cells['B2'] = { t: 'n', v: 0.256, z: '0%' };
    cells['C2'] = { t: 'n', v: 1234567.891, z: '#,##0.00' };
    cells['D2'] = { t: 'n', v: 9.87654321098765 };
    cells['E2'] = { t: 'n', v: 44927, z: 'd mmm yyyy' };
    cells['!ref'] = 'A1:E2';
    const book = utils.book_new();
    utils.book_append_sheet(book, cells, 'One');
    const source = write(book, { type: 'buffer', bookType: 'xlsx' }) as Buffer;
    const rowOf = async (options = {}): Promise<string | undefined> => (await convert(source, 'xlsx', 'csv', options)).toString().split('\r\n')[1];
    expect(await rowOf()).to.equal('9.88,26%,"1,234,567.89",9.87654321098765,1 Jan 2023');
    expect(await rowOf({ numbers: 'full' })).to.equal('9.87654321098765,25.6%,1234567.891,9.87654321098765,01/01/2023');
  });

  it('of a workbook are those of the sheet that was asked for', async () => {
    expect((await convert(workbook(), 'xlsx', 'csv', { sheet: 2 })).toString()).to.equal('second\r\n7\r\n');
    expect(await failureOf(converting(workbook(), 'xlsx', 'csv', { sheet: 3 }))).to.equal('sheet_not_found');
  });

  it('of a workbook become one page with all sheets', async () => {
    const html = (await convert(workbook(), 'xlsx', 'html')).toString();
    expect(html).to.match(/<h1>[^]*One[^]*<td[^>]*>(?:<[^>]+>)*1\.5[^]*second/).and.not.match(/<script|sdval|data-sheets/);
  });

  it('with more rows than the older format holds are refused, and written whole in the newer', async () => {
    const rows = Buffer.from('1,2\n'.repeat(65_537));
    expect(await failureOf(converting(rows, 'csv', 'xls'))).to.equal('too_many_cells');
    expect(Object.values(read(await convert(rows, 'csv', 'xlsx')).Sheets)[0]?.['!ref']).to.equal('A1:B65537');
  });
});
