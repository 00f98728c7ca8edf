import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { imageSize } from 'image-size';
import sharp from 'sharp';
import type { FormatName } from '../../../shared/domain/catalogue/formats.ts';
import { createImageEngine } from '../../../services/converter/engines/image/engine.ts';
import { createSandbox, type Sandbox } from '../../../services/converter/sandbox/sandbox.ts';
import { convertIn, failureOf, type Converted } from '../../contract/engine/suite.ts';
import { fixturePath } from '../../support/fixtures.ts';
import { makeHeic } from '../../support/make-heic.ts';

/** Half a picture wide and high in pixels of colours that are easily told apart: red, green, blue, white. */
const HALF = { width: 48, height: 32 };
const QUARTERS = ['#dc2828', '#28b428', '#2828dc', '#f0f0f0'] as const;

/** A picture whose quarters have the four colours, from the upper left in reading order. */
function quarters(): Promise<Buffer> {
  const places = QUARTERS.map((background, index) => ({ input: { create: { ...HALF, channels: 3 as const, background } }, left: (index % 2) * HALF.width, top: Math.floor(index / 2) * HALF.height }));
  return sharp({ create: { width: HALF.width * 2, height: HALF.height * 2, channels: 3, background: '#000000' } }).composite(places).png().toBuffer();
}

/** Mean difference of two pictures, in steps of 256, after both were brought to sRGB, one size and white paper. */
async function difference(one: Buffer, other: Buffer): Promise<number> {
  const [a, b] = await Promise.all([one, other].map((picture) => sharp(picture).flatten({ background: '#ffffff' }).resize({ width: 96, height: 64, fit: 'fill' }).toColourspace('srgb').removeAlpha().raw().toBuffer()));
  if (a?.length !== b?.length || a === undefined || b === undefined) return Number.POSITIVE_INFINITY;
  return a.reduce((sum, value, index) => sum + Math.abs(value - (b[index] ?? 0)), 0) / a.length;
}

/** A page of a PDF as poppler draws it, at 96 dots an inch. */
function drawPage(pdf: Buffer, page = 1): Buffer {
  return execFileSync('pdftoppm', ['-png', '-r', '96', '-f', String(page), '-l', String(page), '-'], { input: pdf });
}

describe('formats of pictures', function () {
  this.timeout(120_000);
  const engine = createImageEngine();
  let sandbox: Sandbox;
  let original: Buffer;
  before(async () => {
    sandbox = await createSandbox({ mode: 'require' });
    original = await quarters();
  });

  const convert = (source: string | Buffer, input: FormatName, output: FormatName, options: Record<string, unknown> = {}): Promise<Converted> =>
    convertIn(sandbox, engine, { source, input, output, options, timeLimitMs: 60_000 });

  for (const format of ['bmp', 'ico', 'jp2', 'jxl', 'pcx', 'ppm', 'qoi', 'tga'] as const) {
    it(`shows the same colours in the same places after it was ${format}`, async () => {
      const { bytes } = await convert(original, 'png', format);
      const back = await convert(bytes, format, 'png');
      expect(await difference(back.bytes, original)).to.be.lessThan(4);
    });
  }

  for (const format of ['ico', 'jxl', 'qoi', 'tga'] as const) {
    it(`keeps transparency in ${format}`, async () => {
      const clear = await sharp({ create: { width: 20, height: 20, channels: 4, background: '#ff000080' } }).png().toBuffer();
      const { bytes } = await convert((await convert(clear, 'png', format)).bytes, format, 'png');
      expect((await sharp(bytes).raw().toBuffer())[3]).to.be.closeTo(128, 2);
    });
  }

  it('keeps the corners of an old icon transparent, which only its mask says', async () => {
    const { data, info } = await sharp((await convert('hopper_mask.ico', 'ico', 'png')).bytes).raw().toBuffer({ resolveWithObject: true });
    expect(info.channels).to.equal(4);
    const opacities = new Set(Array.from({ length: data.length / 4 }, (_, pixel) => data[pixel * 4 + 3]));
    expect([...opacities]).to.have.members([0, 255]);
  });

  it('makes icons of several sizes, takes the largest of them, and refuses one that is too large', async () => {
    const { bytes } = await convert(original, 'png', 'ico', { sizes: [48, 16, 32] });
    expect(imageSize(bytes).images?.map(({ width }) => width)).to.deep.equal([16, 32, 48]);
    expect(imageSize((await convert(bytes, 'ico', 'png')).bytes)).to.include({ width: 48, height: 48 });
    expect(await failureOf(convert(original, 'png', 'ico', { width: 300 }))).to.equal('result_too_large');
  });

  it('shows a HEIC picture as its maker saw it, and of several the primary one', async () => {
    const { bytes } = await convert('rgb.heic', 'heic', 'png');
    expect(await difference(bytes, await readFile(fixturePath('rgb.png')))).to.be.lessThan(4);
    expect(imageSize((await convert('three-pictures.heic', 'heic', 'jpg')).bytes)).to.include({ width: 64, height: 64 });
  });

  it('turns a HEIC picture exactly once, whatever its EXIF says, too', async () => {
    const pixels = await sharp(original).removeAlpha().raw().toBuffer();
    // TIFF of one tag: orientation 6, a quarter turn clockwise.
    const exif = Buffer.from('49492a00080000000100120103000100000006000000000000000000', 'hex');
    const heic = makeHeic(pixels, HALF.width * 2, HALF.height * 2, { quarterTurns: 3, exif });
    for (const options of [{}, { keep_metadata: true }]) {
      const { bytes } = await convert(heic, 'heic', 'png', options);
      expect(await difference(bytes, await sharp(original).rotate(90).toBuffer())).to.be.lessThan(6);
      expect((await sharp(bytes).metadata()).orientation ?? 1).to.equal(1);
    }
  });

  it('brings Display P3 and CMYK to sRGB, and keeps the look when the profile is kept', async () => {
    const wide = await sharp(original).withIccProfile('p3').jpeg({ quality: 100, chromaSubsampling: '4:4:4' }).toBuffer();
    const icc = (await sharp(wide).metadata()).icc;
    const ink = await sharp(original).withIccProfile('cmyk').toColourspace('cmyk').jpeg({ quality: 100 }).toBuffer();
    const heic = makeHeic(await sharp(wide, { ignoreIcc: true }).raw().toBuffer(), HALF.width * 2, HALF.height * 2, icc === undefined ? {} : { icc });
    for (const [source, input, output] of [[wide, 'jpg', 'png'], [wide, 'jpg', 'bmp'], [heic, 'heic', 'webp']] as const) {
      const { bytes } = await convert(source, input, output);
      const shown = output === 'bmp' ? (await convert(bytes, 'bmp', 'png')).bytes : bytes;
      expect((await sharp(shown).metadata()).icc).to.equal(undefined);
      expect(await difference(shown, original), `${input} to ${output}`).to.be.lessThan(4);
    }
    for (const output of ['png', 'jpg', 'webp'] as const) {
      expect(await difference((await convert(wide, 'jpg', output, { keep_metadata: true })).bytes, original), `${output} with its profile`).to.be.lessThan(6);
      expect(await difference((await convert(ink, 'jpg', output)).bytes, await sharp(ink).png().toBuffer()), `CMYK to ${output}`).to.be.lessThan(6);
    }
    expect((await sharp((await convert('pil_sample_cmyk.jpg', 'jpg', 'png')).bytes).metadata()).space).to.equal('srgb');
  });

  it('keeps all pages of a TIFF, of any size, in TIFF and PDF, and one when asked', async () => {
    const { bytes } = await convert('multipage.tiff', 'tiff', 'tiff', { width: 40 });
    const pages = await Promise.all([0, 1, 2].map((page) => sharp(bytes, { page }).metadata()));
    expect(pages.map(({ width, pages: count }) => [width, count])).to.deep.equal([[40, 3], [40, 3], [40, 3]]);
    const colours = await Promise.all([0, 1, 2].map(async (page) => [...(await sharp(bytes, { page }).removeAlpha().raw().toBuffer()).subarray(0, 3)]));
    expect(new Set(colours.map(String)).size).to.equal(3);
    const pdf = (await convert('multipage.tiff', 'tiff', 'pdf')).bytes;
    expect(execFileSync('pdfinfo', ['-'], { input: pdf }).toString()).to.match(/^Pages: +3$/m);
    expect(execFileSync('pdfinfo', ['-'], { input: (await convert('multipage.tiff', 'tiff', 'pdf', { page: 2 })).bytes }).toString()).to.match(/^Pages: +1$/m);
  });

  it('puts a JPEG into a PDF as it is, without its metadata, upright in all eight orientations', async () => {
    for (const orientation of [1, 2, 3, 4, 5, 6, 7, 8]) {
      const jpeg = await sharp(original).withMetadata({ orientation }).withExifMerge({ IFD0: { Artist: 'Somebody' } }).jpeg({ quality: 95 }).toBuffer();
      const pdf = (await convert(jpeg, 'jpg', 'pdf')).bytes;
      expect(pdf.toString('latin1')).to.include('DCTDecode').and.not.to.include('Somebody');
      expect(pdf.length).to.be.within(jpeg.length / 2, jpeg.length + 4000);
      expect(await difference(drawPage(pdf), await sharp(jpeg).autoOrient().png().toBuffer()), `orientation ${orientation}`).to.be.lessThan(8);
    }
  });

  it('keeps colours and transparency on a page of paper with a border', async () => {
    const clear = await sharp(original).composite([{ input: { create: { width: 96, height: 32, channels: 4, background: '#00000080' } }, blend: 'dest-out', top: 0, left: 0 }]).png().toBuffer();
    const plain = (await convert(clear, 'png', 'pdf')).bytes;
    expect(await difference(drawPage(plain), await sharp(clear).flatten({ background: '#ffffff' }).png().toBuffer())).to.be.lessThan(8);
    const { bytes } = await convert(clear, 'png', 'pdf', { paper_size: 'a4', page_margin: 10 });
    expect(execFileSync('pdfinfo', ['-'], { input: bytes }).toString()).to.match(/^Page size: +841\.89 x 595\.28 pts \(A4\)$/m);
    const tabloid = (await convert(clear, 'png', 'pdf', { paper_size: 'tabloid', orientation: 'portrait' })).bytes;
    expect(execFileSync('pdfinfo', ['-'], { input: tabloid }).toString()).to.match(/^Page size: +792 x 1224 pts/m);
    const corner = await sharp(drawPage(bytes)).extract({ left: 0, top: 0, width: 30, height: 30 }).removeAlpha().raw().toBuffer();
    expect(corner.every((value) => value === 255)).to.equal(true);
  });

  it('makes a page of each frame of an animation', async () => {
    const pdf = (await convert('terminal.gif', 'gif', 'pdf')).bytes;
    const frames = (await sharp(fixturePath('terminal.gif')).metadata()).pages;
    expect(execFileSync('pdfinfo', ['-'], { input: pdf }).toString()).to.match(new RegExp(`^Pages: +${frames}$`, 'm'));
    expect(await difference(drawPage(pdf, frames), await sharp(fixturePath('terminal.gif'), { page: (frames ?? 1) - 1 }).png().toBuffer())).to.be.lessThan(6);
  });
});
