import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { FORMAT_NAMES, type FormatName } from '../../shared/domain/catalogue/formats.ts';
import { matchesDeclared, SNIFF_BYTES } from '../../shared/objects/sniff.ts';
import { fixturePath } from '../support/fixtures.ts';

const FILES: Readonly<Record<string, FormatName>> = {
  'IMG_1054.JPG': 'jpg',
  'a-text.pdf': 'pdf',
  'avif.avif': 'avif',
  'debian.png': 'png',
  'diagram.svg': 'svg',
  'python.gif': 'gif',
  'sample.bmp': 'bmp',
  'sample.tif': 'tiff',
  'sample.webp': 'webp',
};

const isSvg = (text: string | Buffer): boolean => matchesDeclared(Buffer.from(text), 'svg');

describe('telling a format from the first bytes', () => {
  for (const [file, format] of Object.entries(FILES)) {
    it(`takes ${file} for ${format}`, () => {
      expect(matchesDeclared(readFileSync(fixturePath(file)).subarray(0, SNIFF_BYTES), format)).to.equal(true);
    });
  }

  it('knows an svg with byte order mark, declaration, comments, document type and prefix', () => {
    for (const text of ['\uFEFF<svg/>', '<?xml version="1.0"?>\n<!-- a > b --><svg >', '<!DOCTYPE svg [<!ENTITY a "b">]>\n<svg\n', '<s:svg xmlns:s="x">', `<!--${'é'.repeat(20)}--><svg>`]) {
      expect(isSvg(text), text).to.equal(true);
    }
  });

  it('takes nothing for an svg that only contains one, is no UTF-8, or is binary', () => {
    for (const text of ['<html><svg></svg></html>', 'text <svg>', '<!DOCTYPE html><svg>', '<svgx>', '']) expect(isSvg(text), text).to.equal(false);
    expect(isSvg('<svg>\0</svg>')).to.equal(false);
    expect(isSvg(Buffer.from('<svg a="\xff\xfe">', 'latin1'))).to.equal(false);
    expect(isSvg(Buffer.from('\uFEFF<svg/>', 'utf16le'))).to.equal(false);
  });

  it('survives heads of every length', () => {
    const head = readFileSync(fixturePath('avif.avif')).subarray(0, 40);
    for (let length = 0; length <= head.length; length += 1) for (const format of FORMAT_NAMES) expect(() => matchesDeclared(head.subarray(0, length), format)).not.to.throw();
  });

  it('tells camera raw and heic apart from tiff and avif', () => {
    expect(matchesDeclared(Buffer.from('II*\0\x10\0\0\0CR\x02\0', 'latin1'), 'tiff')).to.equal(false);
    expect(matchesDeclared(Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic', 'latin1'), 'avif')).to.equal(false);
    expect(matchesDeclared(Buffer.from('\0\0\0\x1cftypmif1\0\0\0\0mif1avifmiaf', 'latin1'), 'avif')).to.equal(true);
  });

  it('matches nothing but the declared format', () => {
    const head = readFileSync(fixturePath('debian.png')).subarray(0, SNIFF_BYTES);
    expect(matchesDeclared(head, 'png')).to.equal(true);
    expect(matchesDeclared(head, 'jpg')).to.equal(false);
  });
});
