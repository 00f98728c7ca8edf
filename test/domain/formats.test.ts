import { expect } from 'chai';
import { MEASUREMENTS } from '../../shared/domain/catalogue/measurements.ts';
import { extensionOf, FORMATS, FORMAT_NAMES, mimeOf, normalizeFormat } from '../../shared/domain/catalogue/formats.ts';
import { findPair, listPairs, weightOf } from '../../shared/domain/catalogue/pairs.ts';
import { isOutputFormat } from '../../shared/domain/catalogue/options/options.ts';

describe('the table of formats', () => {
  it('knows a format in any case and by its aliases (D21)', () => {
    expect(['JPEG', 'jpg', 'Jpe', 'TIF', 'tiff', 'PNG'].map(normalizeFormat)).to.deep.equal(['jpg', 'jpg', 'jpg', 'tiff', 'tiff', 'png']);
  });

  it('does not know what no engine reads, nor names that every object has', () => {
    expect(['php', '', ' jpg', '.jpg', '__proto__', 'constructor'].map(normalizeFormat)).to.deep.equal(Array(6).fill(undefined));
  });

  it('gives every format a Content-Type and a plain extension', () => {
    for (const format of FORMAT_NAMES) {
      expect(mimeOf(format)).to.match(/^[a-z]+\/[a-z0-9.+-]+$/);
      expect(extensionOf(format)).to.match(/^[a-z0-9]+$/);
    }
  });

  it('lists each pair once, with a schema of options for its target', () => {
    const pairs = listPairs();
    expect(new Set(pairs.map(({ input, output }) => `${input}>${output}`)).size).to.equal(pairs.length);
    expect(pairs.filter(({ output }) => !isOutputFormat(output))).to.deep.equal([]);
    expect(pairs).to.have.length.greaterThan(40);
  });

  it('never estimates below the weight, which is the least a job costs (D25)', () => {
    expect(listPairs().filter(({ estimate, weight }) => estimate < weight || !Number.isInteger(estimate))).to.deep.equal([]);
  });

  it('estimates every kind of conversion by a measurement', () => {
    const measured = MEASUREMENTS.map(({ from, to }) => `${from} to ${to}`);
    for (const { input, output } of listPairs()) expect(measured).to.include(`${FORMATS[input].category} to ${FORMATS[output].category}`);
  });

  it('needs an office program only where one runs', () => {
    const alone = listPairs().filter(({ tools }) => tools.join() === 'texts').map(({ input, output }) => `${input}>${output}`);
    expect(alone).to.include.members(['md>html', 'html>txt', 'epub>md', 'txt>epub', 'csv>html']);
    expect(findPair('md', 'docx')?.tools).to.deep.equal(['libreoffice', 'texts']);
    expect(findPair('docx', 'pdf')?.tools).to.deep.equal(['libreoffice']);
  });

  it('finds listed pairs and no others', () => {
    expect(findPair('jpg', 'webp')).to.deep.equal({ input: 'jpg', output: 'webp', weight: 1, estimate: 1, engine: 'image', tools: ['sharp'], bestEffort: false });
    expect(findPair('jpg', 'jpg')).to.include({ output: 'jpg' });
    expect(findPair('png', 'svg')).to.equal(undefined);
  });

  it('weighs by the rules of the price list, the highest first (§2.7, D26)', () => {
    expect(weightOf('pdf', 'docx')).to.equal(4);
    expect(weightOf('pdf', 'pages')).to.equal(4);
    expect(weightOf('mp4', 'webm')).to.equal(2);
    expect(weightOf('key', 'pdf')).to.equal(2);
    expect(weightOf('mp4', 'mp3')).to.equal(1);
    expect(weightOf('pdf', 'png')).to.equal(1);
    expect(weightOf('jpg', 'webp')).to.equal(1);
  });
});
