import { expect } from 'chai';
import { imageSize } from 'image-size';
import sharp from 'sharp';
import type { FormatName } from '../../../shared/domain/catalogue/formats.ts';
import { createImageEngine } from '../../../services/converter/engines/image/engine.ts';
import { createSandbox, type Sandbox } from '../../../services/converter/sandbox/sandbox.ts';
import { convertIn, failureOf, type Converted } from '../../contract/engine/suite.ts';
import { fixturePath } from '../../support/fixtures.ts';

function pixels(source: string | Buffer): Promise<Buffer> {
  return sharp(source).flatten({ background: '#ffffff' }).raw().toBuffer();
}

function durationMs(delays: readonly number[] = []): number {
  return delays.reduce((sum, each) => sum + each, 0);
}

describe('options of image conversions', () => {
  const engine = createImageEngine();
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await createSandbox({ mode: 'require' });
  });

  const convert = (source: string | Buffer, input: FormatName, output: FormatName, options: Record<string, unknown>): Promise<Converted> =>
    convertIn(sandbox, engine, { source, input, output, options });

  const SIZES: readonly [Record<string, unknown>, number, number][] = [
    [{ width: 320 }, 320, 240],
    [{ height: 240 }, 320, 240],
    [{ width: 300, height: 300 }, 300, 225],
    [{ width: 300, height: 300, fit: 'outside' }, 400, 300],
    [{ width: 300, height: 300, fit: 'cover' }, 300, 300],
    [{ width: 300, height: 300, fit: 'contain' }, 300, 300],
    [{ width: 300, height: 100, fit: 'fill' }, 300, 100],
    [{ width: 2000 }, 2000, 1500],
    [{ width: 2000, enlarge: false }, 1280, 960],
    [{ rotate: 90 }, 960, 1280],
    [{ rotate: -90, width: 300 }, 300, 400],
    [{ rotate: 45 }, 1585, 1585],
  ];
  for (const [options, width, height] of SIZES) {
    it(`draws a photograph of 1280 × 960 with ${JSON.stringify(options)} at ${width} × ${height}`, async () => {
      const size = imageSize((await convert('IMG_1054.JPG', 'jpg', 'jpg', options)).bytes);
      expect(size.width).to.be.closeTo(width, 1);
      expect(size.height).to.be.closeTo(height, 1);
    });
  }

  it('stores less at a lower quality', async () => {
    const [low, high] = await Promise.all([30, 95].map((quality) => convert('IMG_1054.JPG', 'jpg', 'webp', { quality, effort: 0 })));
    expect(low?.sizeBytes).to.be.lessThan((high?.sizeBytes ?? 0) / 3);
  });

  it('keeps every pixel when asked for no loss', async () => {
    const { bytes } = await convert('debian.png', 'png', 'webp', { lossless: true });
    expect((await pixels(bytes)).equals(await pixels(fixturePath('debian.png')))).to.equal(true);
  });

  it('drops where a photograph was taken unless told to keep it, and the picture stays upright', async () => {
    const turned = await sharp(fixturePath('IMG_1054.JPG')).resize(40, 30).withMetadata({ orientation: 6 }).withExifMerge({ IFD0: { Artist: 'Somebody' } }).jpeg().toBuffer();
    const bare = await sharp((await convert(turned, 'jpg', 'jpg', {})).bytes).metadata();
    expect(bare.exif).to.equal(undefined);
    expect([bare.width, bare.height]).to.deep.equal([30, 40]);
    const kept = await sharp((await convert(turned, 'jpg', 'jpg', { keep_metadata: true })).bytes).metadata();
    expect(kept.exif?.toString('latin1')).to.include('Somebody');
    expect([kept.width, kept.height, kept.orientation ?? 1]).to.deep.equal([30, 40, 1]);
  });

  it('puts the background behind what is transparent', async () => {
    const clear = await sharp({ create: { width: 20, height: 20, channels: 4, background: '#00000000' } }).png().toBuffer();
    const corner = async (output: FormatName, options: Record<string, unknown>): Promise<number[]> =>
      [...(await sharp((await convert(clear, 'png', output, options)).bytes).ensureAlpha().raw().toBuffer()).subarray(0, 4)];
    expect(await corner('jpg', {})).to.deep.equal([255, 255, 255, 255]);
    expect(await corner('png', { background: '#0000ff' })).to.deep.equal([0, 0, 255, 255]);
    expect((await corner('png', {}))[3]).to.equal(0);
  });

  it('takes one page of several, counted from 1, and says when there is no such page', async () => {
    const { bytes } = await convert('terminal.gif', 'gif', 'webp', { page: 7 });
    expect((await sharp(bytes).metadata()).pages ?? 1).to.equal(1);
    expect(await failureOf(convert('terminal.gif', 'gif', 'webp', { page: 8 }))).to.equal('page_not_found');
  });

  it('keeps an animation between gif and webp, with its timing', async () => {
    const source = await sharp(fixturePath('terminal.gif'), { pages: -1 }).metadata();
    const { pages, width, delay } = await sharp((await convert('terminal.gif', 'gif', 'webp', { width: 320 })).bytes, { pages: -1 }).metadata();
    // Frames that look alike once they are small become one that is shown for as long.
    expect(pages).to.be.within(2, source.pages ?? 0);
    expect({ width, durationMs: durationMs(delay) }).to.deep.equal({ width: 320, durationMs: durationMs(source.delay) });
  });

  it('mirrors and turns the frames of an animation one by one and in order', async () => {
    const frames = await Promise.all([0, 120, 240].map((red) => sharp({ create: { width: 40, height: 20, channels: 3, background: { r: red, g: 0, b: 0 } } }).png().toBuffer()));
    const gif = await sharp(frames, { join: { animated: true } }).gif({ delay: [100, 200, 300], loop: 2 }).toBuffer();
    const { bytes } = await convert(gif, 'gif', 'gif', { flip: true, rotate: 90 });
    const { width, pageHeight, delay, loop } = await sharp(bytes, { pages: -1 }).metadata();
    expect({ width, pageHeight, delay, loop }).to.deep.equal({ width: 20, pageHeight: 40, delay: [100, 200, 300], loop: 2 });
    const reds = await Promise.all([0, 1, 2].map(async (page) => (await sharp(bytes, { page }).raw().toBuffer())[0] ?? -1));
    expect(reds[0]).to.be.lessThan(10);
    expect(reds[1]).to.be.closeTo(120, 10);
    expect(reds[2]).to.be.closeTo(240, 10);
  });

  it('stores each compression of tiff and a small palette of png', async () => {
    const sizes = await Promise.all(['none', 'lzw', 'deflate', 'jpeg'].map(async (compression) => (await convert('IMG_1054.JPG', 'jpg', 'tiff', { compression })).sizeBytes));
    expect(sizes).to.deep.equal(sizes.toSorted((a, b) => b - a));
    expect(sizes[0]).to.be.greaterThan(1280 * 960 * 3);
    expect((await sharp((await convert('debian.png', 'png', 'png', { colors: 8 })).bytes).metadata()).isPalette).to.equal(true);
  });

  it('draws an svg sharp at the size asked for', async () => {
    expect(imageSize((await convert('diagram.svg', 'svg', 'png', { density: 144 })).bytes)).to.include({ width: 2000, height: 1400 });
  });
});
