import { expect } from 'chai';
import { imageSize } from 'image-size';
import type { FormatName } from '../../../shared/domain/catalogue/formats.ts';
import type { Pair } from '../../../shared/domain/catalogue/pairs.ts';
import { createImageEngine } from '../../../services/converter/engines/image/engine.ts';
import { describeEngine } from './suite.ts';

const SAMPLES: Partial<Record<FormatName, { file: string; width: number; height: number }>> = {
  avif: { file: 'avif.avif', width: 320, height: 180 },
  bmp: { file: 'sample.bmp', width: 23, height: 42 },
  gif: { file: 'terminal.gif', width: 640, height: 421 },
  heic: { file: 'rgb.heic', width: 128, height: 128 },
  ico: { file: 'sample.ico', width: 23, height: 42 },
  jp2: { file: 'test-card-lossy-tiled.jp2', width: 640, height: 480 },
  jpg: { file: 'IMG_1054.JPG', width: 1280, height: 960 },
  jxl: { file: 'sample.jxl', width: 23, height: 42 },
  pcx: { file: 'pil184.pcx', width: 447, height: 144 },
  png: { file: 'debian.png', width: 800, height: 600 },
  ppm: { file: 'sample.ppm', width: 23, height: 42 },
  psd: { file: 'psd.psd', width: 640, height: 400 },
  qoi: { file: 'sample.qoi', width: 23, height: 42 },
  svg: { file: 'diagram.svg', width: 1000, height: 700 },
  tga: { file: 'sample.tga', width: 23, height: 42 },
  tiff: { file: 'sample.tif', width: 23, height: 42 },
  webp: { file: 'terminal.webp', width: 160, height: 105 },
  xpm: { file: 'hopper.xpm', width: 128, height: 128 },
};

/** Each input once, to png, and each output once, from png; `npm run test:engines` tries every pair. */
function isTried({ input, output }: Pair): boolean {
  return input === 'png' || output === 'png';
}

/** As programs see it that did not draw it; of a document, its pages are looked at elsewhere. */
function sizeOf(bytes: Buffer, format: FormatName): { width: number; height: number } {
  if (format === 'qoi') return { width: bytes.readUInt32BE(4), height: bytes.readUInt32BE(8) };
  if (format === 'pcx') return { width: bytes.readUInt16LE(8) + 1, height: bytes.readUInt16LE(10) + 1 };
  return imageSize(bytes);
}

describe('the image engine', () => {
  describeEngine({
    engine: createImageEngine(),
    samples: Object.fromEntries(Object.entries(SAMPLES).map(([format, { file }]) => [format, file])),
    pairs: (all) => all.filter(isTried),
    impostor: 'a-text.pdf',
    verify: ({ bytes }, { input, output }) => {
      const { width, height } = SAMPLES[input] ?? expect.fail(`no sample of ${input}`);
      if (output === 'pdf') {
        expect(bytes.toString('latin1')).to.include('/Type /Page\n');
        return;
      }
      // An icon is at most 256 pixels wide; 800 × 600 becomes 256 × 192.
      const scale = output === 'ico' ? Math.min(1, 256 / Math.max(width, height)) : 1;
      expect(sizeOf(bytes, output)).to.include({ width: width * scale, height: height * scale });
    },
  });
});
