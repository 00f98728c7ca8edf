import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync, crc32 } from 'node:zlib';
import { expect } from 'chai';
import sharp from 'sharp';
import type { FormatName } from '../../../shared/domain/catalogue/formats.ts';
import { createImageEngine } from '../../../services/converter/engines/image/engine.ts';
import { createSandbox, type Sandbox } from '../../../services/converter/sandbox/sandbox.ts';
import { convertIn, failureOf, type Converted } from '../../contract/engine/suite.ts';
import { startTrap, type Trap } from '../../support/origin.ts';

function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

/** A valid one-bit PNG of so many pixels a side; 30 000 of them compress to a hundred kilobytes. */
function pngBomb(side: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.writeUInt8(1, 8);
  const rows = Buffer.alloc(side * (Math.ceil(side / 8) + 1));
  const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
  return Buffer.concat([signature, pngChunk('IHDR', header), pngChunk('IDAT', deflateSync(rows)), pngChunk('IEND', Buffer.alloc(0))]);
}

function svg(content: string, head = ''): Buffer {
  return Buffer.from(`${head}<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="60" height="60">${content}</svg>`);
}

function svgWithPicture(href: string): Buffer {
  return svg(`<image width="60" height="60" xlink:href="${href}"/>`);
}

describe('images that mean harm', () => {
  const engine = createImageEngine();
  let sandbox: Sandbox;
  let trap: Trap;
  let outside: string;
  before(async () => {
    sandbox = await createSandbox({ mode: 'require' });
    outside = await mkdtemp(join(tmpdir(), 'secret-'));
    await writeFile(join(outside, 'secret.png'), await sharp({ create: { width: 60, height: 60, channels: 3, background: '#ff0000' } }).png().toBuffer());
    trap = await startTrap('127.0.0.1');
  });
  after(async () => {
    await trap.stop();
    await rm(outside, { recursive: true, force: true });
  });

  const convert = (source: string | Buffer, input: FormatName, output: FormatName, options = {}): Promise<Converted> =>
    convertIn(sandbox, engine, { source, input, output, options });

  it('refuses a small file of 900 megapixels by its header', async () => {
    const bomb = pngBomb(30_000);
    expect(bomb.length).to.be.lessThan(200_000);
    expect(await failureOf(convert(bomb, 'png', 'jpg'))).to.equal('too_many_pixels');
    expect(await failureOf(convert(pngBomb(16_000), 'png', 'jpg'))).to.equal('too_many_pixels');
  });

  it('refuses an animation of 783 frames, but takes one frame of it', async () => {
    expect(await failureOf(convert('terminal-783-frames.gif', 'gif', 'webp'))).to.equal('too_many_frames');
    expect((await convert('terminal-783-frames.gif', 'gif', 'png')).sizeBytes).to.be.greaterThan(1000);
  });

  it('refuses a drawing with a huge canvas, also when only its density makes it huge', async () => {
    expect(await failureOf(convert(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="100000" height="100000"/>'), 'svg', 'png'))).to.equal('too_many_pixels');
    expect(await failureOf(convert('diagram.svg', 'svg', 'png', { density: 2400 }))).to.equal('too_many_pixels');
  });

  it('refuses a result that its format cannot hold or that is too large', async () => {
    expect(await failureOf(convert('debian.png', 'png', 'tiff', { width: 16_000, height: 16_000, fit: 'fill' }))).to.equal('result_too_large');
    const wide = await sharp({ create: { width: 20_000, height: 4, channels: 3, background: '#ffffff' } }).png().toBuffer();
    expect(await failureOf(convert(wide, 'png', 'webp'))).to.equal('result_too_large');
  });

  it('draws no picture from the network or the disk into a drawing, but one that is embedded', async () => {
    const links = [`http://127.0.0.1:${trap.port}/a.png`, `file://${outside}/secret.png`, `${outside}/secret.png`, 'source'].map(svgWithPicture);
    for (const drawing of links) {
      const pixels = await sharp((await convert(drawing, 'svg', 'png')).bytes).ensureAlpha().raw().toBuffer();
      expect(pixels.every((value) => value === 0)).to.equal(true);
    }
    const entity = svg('<text y="30">&leak;</text>', `<!DOCTYPE svg [<!ENTITY leak SYSTEM "file://${outside}/secret.png">]>`);
    expect(await failureOf(convert(entity, 'svg', 'png'))).to.equal('damaged');
    const embedded = `data:image/png;base64,${(await readFile(join(outside, 'secret.png'))).toString('base64')}`;
    const [red, green] = await sharp((await convert(svgWithPicture(embedded), 'svg', 'png')).bytes).raw().toBuffer();
    expect([red, green]).to.deep.equal([255, 0]);
    expect(trap.hits()).to.equal(0);
  });

  it('refuses a drawing whose entities would fill the memory', async () => {
    const levels = Array.from({ length: 12 }, (_, level) => `<!ENTITY e${level + 1} "${`&e${level};`.repeat(10)}">`).join('');
    const bomb = svg('<text>&e12;</text>', `<!DOCTYPE svg [<!ENTITY e0 "ha">${levels}]>`);
    expect(await failureOf(convert(bomb, 'svg', 'png'))).to.equal('damaged');
  });

  it('refuses pages and playlists that call themselves pictures', async () => {
    const texts = ['<html><svg xmlns="http://www.w3.org/2000/svg"/></html>', '#EXTM3U\n<svg', '%!PS-Adobe-3.0 EPSF-3.0\n', '<!-- <svg> --> <!DOCTYPE html><svg>'];
    for (const text of texts) {
      const input = text.includes('svg') ? 'svg' : 'jpg';
      expect(await failureOf(convert(Buffer.from(text), input, 'png')), text).to.equal('not_what_it_claims');
    }
    expect(await failureOf(convert('sample.bmp', 'png', 'jpg'))).to.equal('not_what_it_claims');
  });

  it('refuses a TIFF that ends too early, and takes one with a field that nobody knows', async () => {
    const whole = await sharp({ create: { width: 200, height: 200, channels: 3, background: '#336699' } }).tiff({ compression: 'none' }).toBuffer();
    // ResolutionUnit (296) under a private number, out of the order in which fields have to stand.
    const strange = Buffer.from(whole);
    strange.writeUInt16LE(65_000, strange.lastIndexOf(Buffer.from([0x28, 0x01, 0x03, 0x00])));
    expect(strange.equals(whole)).to.equal(false);
    expect((await convert(strange, 'tiff', 'png')).bytes.length).to.be.greaterThan(0);
    const pixelsGone = Buffer.from(whole);
    // The only strip, by its offset (273), lies behind the end of the file now.
    pixelsGone.writeUInt32LE(whole.length, pixelsGone.lastIndexOf(Buffer.from([0x11, 0x01, 0x04, 0x00])) + 8);
    expect(await failureOf(convert(pixelsGone, 'tiff', 'png'))).to.equal('damaged');
  });

  it('kills a conversion that takes too long, and the next one works', async () => {
    const noise = sharp({ create: { width: 2000, height: 2000, channels: 3, background: '#000000', noise: { type: 'gaussian', mean: 128, sigma: 60 } } });
    const source = await noise.png({ compressionLevel: 0 }).toBuffer();
    const slow = convertIn(sandbox, engine, { source, input: 'png', output: 'avif', options: { effort: 9 }, timeLimitMs: 1_000 });
    expect(await failureOf(slow)).to.equal('timeout');
    expect((await convert('debian_logo.jpg', 'jpg', 'png')).bytes.length).to.be.greaterThan(0);
  });
});
