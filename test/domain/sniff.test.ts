import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { FORMAT_NAMES, type FormatName } from '../../shared/domain/catalogue/formats.ts';
import { matchesDeclared, SNIFF_BYTES } from '../../shared/objects/sniff/heads.ts';
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

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');
const isSvg = (text: string | Buffer): boolean => matchesDeclared(Buffer.from(text), 'svg');

/** A frame of MPEG audio: version 1, layer III, 128 kbit/s, 44.1 kHz. */
const MP3_FRAME = Buffer.concat([bytes('\xff\xfb\x90\x00'), Buffer.alloc(413)]);
/** A frame of AAC in ADTS, 100 bytes long. */
const AAC_FRAME = Buffer.concat([bytes('\xff\xf1\x50\x80\x0c\x9f\xfc'), Buffer.alloc(93)]);

function id3(sizeBytes: number): Buffer {
  return Buffer.concat([bytes('ID3\x04\0\0\0\0'), Buffer.from([sizeBytes >> 7, sizeBytes & 127]), Buffer.alloc(sizeBytes, 1)]);
}

function expectOnly(head: Buffer, among: readonly FormatName[], expected: readonly FormatName[]): void {
  expect(among.filter((format) => matchesDeclared(head, format))).to.deep.equal(expected);
}

describe('telling a format from the first bytes', () => {
  for (const [file, format] of Object.entries(FILES)) {
    it(`takes ${file} for ${format} and for nothing else`, () => {
      expectOnly(readFileSync(fixturePath(file)), FORMAT_NAMES.filter((name) => format !== 'svg' || !['txt', 'md', 'csv', 'html'].includes(name)), [format]);
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
    expect(isSvg(bytes('<svg a="\xff\xfe">'))).to.equal(false);
    expect(isSvg(Buffer.from('\uFEFF<svg/>', 'utf16le'))).to.equal(false);
  });

  it('survives heads of every length', () => {
    for (const file of ['avif.avif', 'sample.tif', 'a-text.docx', 'doc.doc', 'diagram.svg']) {
      const head = readFileSync(fixturePath(file)).subarray(0, 160);
      for (let length = 0; length <= head.length; length += 1) for (const format of FORMAT_NAMES) matchesDeclared(head.subarray(0, length), format);
    }
  });

  it('tells camera raw and heic apart from tiff and avif', () => {
    expectOnly(bytes('II*\0\x10\0\0\0CR\x02\0'), ['tiff'], []);
    const among = ['avif', 'heic', 'mp4', 'mov'] as const;
    expectOnly(bytes('\0\0\0\x18ftypheic\0\0\0\0mif1heic'), among, ['heic']);
    expectOnly(bytes('\0\0\0\x1cftypmif1\0\0\0\0mif1avifmiaf'), among, ['avif']);
    expectOnly(bytes('\0\0\0\x18ftypmif1\0\0\0\0mif1heic'), among, ['heic']);
    expectOnly(bytes('\0\0\0\x14ftypmif1\0\0\0\0mif1'), among, []);
  });

  it('takes a film under any name of its container, and no picture', () => {
    const names = ['m4a', 'mov', 'mp4'] as const;
    for (const brand of ['isom', 'qt  ', 'M4A ', '3gp5', 'mp42']) expectOnly(bytes(`\0\0\0\x18ftyp${brand}\0\0\0\0mp42isom`), names, names);
    expectOnly(bytes('\0\0\0\x08wide\0\0\x10\0mdat'), names, names);
    expectOnly(bytes('\x1a\x45\xdf\xa3\x93\x42\x82\x84webm\x42\x87\x81\x02'), ['mkv', 'webm', 'mp4'], ['mkv', 'webm']);
    expectOnly(bytes('\x1a\x45\xdf\xa3\x93\x42\x82\x84docx webm'), ['mkv', 'webm'], []);
  });
});

describe('telling sound from its frames', () => {
  const among = ['mp3', 'aac', 'flac', 'wav'] as const;

  it('takes two frames that follow one another, at the start or after the rest of one', () => {
    expectOnly(Buffer.concat([MP3_FRAME, MP3_FRAME]), among, ['mp3']);
    expectOnly(Buffer.concat([Buffer.alloc(300, 7), MP3_FRAME, MP3_FRAME]), among, ['mp3']);
    expectOnly(Buffer.concat([AAC_FRAME, AAC_FRAME]), among, ['aac']);
  });

  it('takes no file for sound because two of its bytes look so', () => {
    expectOnly(Buffer.concat([MP3_FRAME, Buffer.alloc(500, 3)]), among, []);
    expectOnly(Buffer.concat([AAC_FRAME, Buffer.alloc(500, 3)]), among, []);
    expectOnly(Buffer.from('\uFEFFa text of a kind that others take for sound', 'utf16le'), among, []);
  });

  it('tells apart what comes after a tag, and leaves a longer tag to who has the whole file', () => {
    expectOnly(Buffer.concat([id3(300), MP3_FRAME, MP3_FRAME]), among, ['mp3']);
    expectOnly(Buffer.concat([id3(300), Buffer.alloc(60), id3(20), bytes('fLaC')]), among, []);
    expectOnly(Buffer.concat([id3(300), bytes('fLaC')]), among, ['flac']);
    expectOnly(Buffer.concat([id3(12_000), bytes('#EXTM3U\n')]), among, []);
    expectOnly(id3(16_380), among, ['mp3', 'aac', 'flac']);
  });
});

describe('telling text from what only looks so', () => {
  const among = ['txt', 'md', 'csv', 'html'] as const;

  it('takes text in UTF-8, in UTF-16 with its mark, and in encodings of one byte', () => {
    for (const head of [Buffer.from('Grüße, 5 €'), Buffer.from('\uFEFFGrüße'), Buffer.from('\uFEFFGrüße', 'utf16le'), bytes('Gr\xfc\xdfe, 5 \x80'), bytes('a\x1a')]) expectOnly(head, among, ['txt', 'md', 'csv']);
    expectOnly(Buffer.from('\uFEFF<html><body>Grüße', 'utf16le'), among, ['txt', 'md', 'html']);
    expectOnly(bytes('<p>Hello <b>you</b></p>'), among, ['txt', 'md', 'csv', 'html']);
  });

  it('takes no binary file for text', () => {
    for (const head of [bytes('text\0text'), bytes('\x01\x02text'), bytes('\xff\xfe\0\0t\0\0\0'), readFileSync(fixturePath('debian.png')), readFileSync(fixturePath('doc.doc')), bytes('%PDF-1.4\n'), bytes('{\\rtf1 text}')]) {
      expectOnly(head, among, []);
    }
  });

  it('forgives a text a few control characters, and takes no time for one made to be hard to read', () => {
    expectOnly(bytes(`"a field","\x16 pasted from elsewhere"\n${'1,2\n'.repeat(50)}`), among, ['txt', 'md', 'csv']);
    const startMs = performance.now();
    for (const piece of ['<!---->', '<!--', '<?xml ?>', '<!DOCTYPE svg [', '#\n', '/*', ' ']) {
      for (const format of FORMAT_NAMES) for (const start of ['', 'P3 ', '<?xml ', '\uFEFF']) matchesDeclared(Buffer.from(start + piece.repeat(SNIFF_BYTES)), format);
    }
    expect(performance.now() - startMs).to.be.lessThan(10_000);
  });

  it('takes no list for a media player for anything', () => {
    const lists = [
      '#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n',
      '\uFEFF\n#EXTM3U\n',
      "ffconcat version 1.0\nfile '/etc/passwd'\n",
      '<?xml version="1.0"?>\n<MPD xmlns="urn:mpeg:dash:schema:mpd:2011">',
      '<!-- a --><smil>',
      'v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\n',
      '[playlist]\nFile1=/etc/passwd\n',
    ];
    for (const list of lists) expectOnly(Buffer.from(list), FORMAT_NAMES, []);
    expectOnly(Buffer.from('\uFEFF#EXTM3U\n', 'utf16le'), FORMAT_NAMES, []);
  });

  it('takes no page for a picture, a film or an Office file, and no PostScript for a photograph', () => {
    const texts: ReadonlySet<FormatName> = new Set(['txt', 'md', 'csv', 'html']);
    for (const text of ['<html><img src="file:///etc/passwd"></html>', '<?xml version="1.0"?><office:document xmlns:office="x">', '%!PS-Adobe-3.0 EPSF-3.0\n']) {
      expectOnly(Buffer.from(text), FORMAT_NAMES.filter((format) => !texts.has(format)), []);
    }
  });
});
