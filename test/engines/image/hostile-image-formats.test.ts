import { expect } from 'chai';
import type { FormatName } from '../../../shared/domain/catalogue/formats.ts';
import { createImageEngine } from '../../../services/converter/engines/image/engine.ts';
import { createSandbox, type Sandbox } from '../../../services/converter/sandbox/sandbox.ts';
import { convertIn, failureOf } from '../../contract/engine/suite.ts';

/** Sides of a picture of 900 megapixels. */
const SIDE = 30_000;

const FILE_BYTES = 4_096;

/** A file that is nothing but a head; each field is a number at a place. */
function head(mark: string, fields: readonly (readonly [write: 'writeUInt8' | 'writeUInt16LE' | 'writeUInt16BE' | 'writeUInt32LE' | 'writeUInt32BE', value: number, at: number])[]): Buffer {
  const bytes = Buffer.alloc(FILE_BYTES);
  bytes.write(mark, 'latin1');
  for (const [write, value, at] of fields) bytes[write](value, at);
  return bytes;
}

/** Lowest bit first: not small, both sides equal, 30 bits for a side. */
function jxlHead(): Buffer {
  const bits = (1n << 33n) | (BigInt(SIDE - 1) << 3n) | (3n << 1n);
  const bytes = Buffer.alloc(FILE_BYTES);
  bytes.writeUInt16BE(0xff0a, 0);
  bytes.writeBigUInt64LE(bits, 2);
  return bytes;
}

const PICTURE = { dib: 40, planes: 1, bits: 24 };

const BOMBS: Partial<Readonly<Record<FormatName, Buffer>>> = {
  bmp: head('BM', [['writeUInt32LE', FILE_BYTES, 2], ['writeUInt32LE', 54, 10], ['writeUInt32LE', PICTURE.dib, 14], ['writeUInt32LE', SIDE, 18], ['writeUInt32LE', SIDE, 22], ['writeUInt16LE', PICTURE.planes, 26], ['writeUInt16LE', PICTURE.bits, 28]]),
  ico: head('\0\0\x01\0\x01\0', [['writeUInt16LE', PICTURE.planes, 10], ['writeUInt16LE', 32, 12], ['writeUInt32LE', FILE_BYTES - 22, 14], ['writeUInt32LE', 22, 18], ['writeUInt32LE', PICTURE.dib, 22], ['writeUInt32LE', SIDE, 26], ['writeUInt32LE', SIDE * 2, 30], ['writeUInt16LE', PICTURE.planes, 34], ['writeUInt16LE', 32, 36]]),
  jp2: head('\xff\x4f\xff\x51\0\x2f\0\0', [['writeUInt32BE', SIDE, 8], ['writeUInt32BE', SIDE, 12]]),
  jxl: jxlHead(),
  pcx: head('\x0a\x05\x01\x08', [['writeUInt16LE', SIDE - 1, 8], ['writeUInt16LE', SIDE - 1, 10], ['writeUInt8', 3, 65], ['writeUInt16LE', SIDE, 66], ['writeUInt16LE', 1, 68]]),
  ppm: head(`P6\n# a comment\n${SIDE} ${SIDE}\n255\n`, []),
  psd: head('8BPS\0\x01', [['writeUInt16BE', 3, 12], ['writeUInt32BE', SIDE, 14], ['writeUInt32BE', SIDE, 18], ['writeUInt16BE', 8, 22], ['writeUInt16BE', 3, 24]]),
  qoi: head('qoif', [['writeUInt32BE', SIDE, 4], ['writeUInt32BE', SIDE, 8], ['writeUInt8', 4, 12]]),
  tga: head('\0\0\x02', [['writeUInt16LE', SIDE, 12], ['writeUInt16LE', SIDE, 14], ['writeUInt8', PICTURE.bits, 16]]),
  xpm: Buffer.from(`/* XPM */\nstatic char *x[] = {\n"${SIDE} ${SIDE} 2 1",\n"a c #000000",\n"b c #ffffff",\n`),
};

describe('pictures in rarer formats that mean harm', function () {
  this.timeout(60_000);
  const engine = createImageEngine();
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await createSandbox({ mode: 'require' });
  });

  for (const [format, source] of Object.entries(BOMBS) as [FormatName, Buffer][]) {
    it(`refuses a small ${format} of 900 megapixels by its header`, async () => {
      expect(await failureOf(convertIn(sandbox, engine, { source, input: format, output: 'png' }))).to.equal('too_many_pixels');
    });
  }

  it('says of a PSD in CMYK that it cannot be drawn, not that it is damaged', async () => {
    const source = head('8BPS\0\x01', [['writeUInt16BE', 4, 12], ['writeUInt32BE', 8, 14], ['writeUInt32BE', 8, 18], ['writeUInt16BE', 8, 22], ['writeUInt16BE', 4, 24]]);
    expect(await failureOf(convertIn(sandbox, engine, { source, input: 'psd', output: 'png' }))).to.equal('unsupported_feature');
  });

  it('refuses an icon whose table points outside of it', async () => {
    const source = head('\0\0\x01\0\x01\0', [['writeUInt16LE', 1, 10], ['writeUInt16LE', 32, 12], ['writeUInt32LE', 0xffff_fff0, 14], ['writeUInt32LE', 22, 18]]);
    expect(await failureOf(convertIn(sandbox, engine, { source, input: 'ico', output: 'png' }))).to.equal('damaged');
  });
});
