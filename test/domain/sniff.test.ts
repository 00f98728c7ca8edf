import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { FormatName } from '../../shared/domain/formats.ts';
import { matchesDeclared, sniffFormat, SNIFF_BYTES } from '../../shared/objects/sniff.ts';
import { fixturePath } from '../support/fixtures.ts';

const FILES: Readonly<Record<string, FormatName | undefined>> = {
  'IMG_1054.JPG': 'jpg',
  'a-text.pdf': undefined,
  'avif.avif': 'avif',
  'debian.png': 'png',
  'diagram.svg': 'svg',
  'python.gif': 'gif',
  'sample.bmp': undefined,
  'sample.tif': 'tiff',
  'sample.webp': 'webp',
};

describe('telling a format from the first bytes', () => {
  for (const [file, format] of Object.entries(FILES)) {
    it(`takes ${file} for ${format ?? 'nothing it knows'}`, () => {
      expect(sniffFormat(readFileSync(fixturePath(file)).subarray(0, SNIFF_BYTES))).to.equal(format);
    });
  }

  it('knows an svg with byte order mark, declaration, comments, document type and prefix', () => {
    for (const text of ['\uFEFF<svg/>', '<?xml version="1.0"?>\n<!-- a > b --><svg >', '<!DOCTYPE svg [<!ENTITY a "b">]>\n<svg\n', '<s:svg xmlns:s="x">', `<!--${'é'.repeat(20)}--><svg>`]) {
      expect(sniffFormat(Buffer.from(text)), text).to.equal('svg');
    }
  });

  it('takes nothing for an svg that only contains one, is no UTF-8, or is binary', () => {
    for (const text of ['<html><svg></svg></html>', 'text <svg>', '<!DOCTYPE html><svg>', '<svgx>', '']) expect(sniffFormat(Buffer.from(text)), text).to.equal(undefined);
    expect(sniffFormat(Buffer.from('<svg>\0</svg>'))).to.equal(undefined);
    expect(sniffFormat(Buffer.from('<svg a="\xff\xfe">', 'latin1'))).to.equal(undefined);
    expect(sniffFormat(Buffer.from('\uFEFF<svg/>', 'utf16le'))).to.equal(undefined);
  });

  it('survives heads of every length', () => {
    const head = readFileSync(fixturePath('avif.avif')).subarray(0, 40);
    for (let length = 0; length <= head.length; length += 1) expect(() => sniffFormat(head.subarray(0, length))).not.to.throw();
  });

  it('tells camera raw and heic apart from tiff and avif', () => {
    expect(sniffFormat(Buffer.from('II*\0\x10\0\0\0CR\x02\0', 'latin1'))).to.equal(undefined);
    expect(sniffFormat(Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic', 'latin1'))).to.equal(undefined);
    expect(sniffFormat(Buffer.from('\0\0\0\x1cftypmif1\0\0\0\0mif1avifmiaf', 'latin1'))).to.equal('avif');
  });

  it('matches nothing but the declared format', () => {
    const head = readFileSync(fixturePath('debian.png')).subarray(0, SNIFF_BYTES);
    expect(matchesDeclared(head, 'png')).to.equal(true);
    expect(matchesDeclared(head, 'jpg')).to.equal(false);
  });
});
