import { expect } from 'chai';
import { imageSize } from 'image-size';
import type { FormatName } from '../../../shared/domain/catalogue/formats.ts';
import { createImageEngine } from '../../../services/converter/engines/image/engine.ts';
import { describeEngine } from './suite.ts';

const SAMPLES: Partial<Record<FormatName, { file: string; width: number; height: number }>> = {
  avif: { file: 'avif.avif', width: 320, height: 180 },
  gif: { file: 'terminal.gif', width: 640, height: 421 },
  jpg: { file: 'IMG_1054.JPG', width: 1280, height: 960 },
  png: { file: 'debian.png', width: 800, height: 600 },
  svg: { file: 'diagram.svg', width: 1000, height: 700 },
  tiff: { file: 'sample.tif', width: 23, height: 42 },
  webp: { file: 'terminal.webp', width: 160, height: 105 },
};

describe('the image engine', () => {
  describeEngine({
    engine: createImageEngine(),
    samples: Object.fromEntries(Object.entries(SAMPLES).map(([format, { file }]) => [format, file])),
    impostor: 'a-text.pdf',
    verify: ({ bytes }, { input }) => {
      const { width, height } = imageSize(bytes);
      const { width: expectedWidth, height: expectedHeight } = SAMPLES[input] ?? expect.fail(`no sample of ${input}`);
      expect({ width, height }).to.deep.equal({ width: expectedWidth, height: expectedHeight });
    },
  });
});
