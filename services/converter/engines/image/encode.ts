import type { Metadata, Sharp } from 'sharp';
import { avifOptions, gifOptions, jpgOptions, pngOptions, tiffOptions, webpOptions } from '../../../../shared/domain/catalogue/options/image.ts';
import type { DrawnOutput } from './outputs.ts';

/** Effort that keeps a 12-megapixel photograph at two seconds; the library's own default takes fourteen. */
const AVIF_EFFORT = 2;

/**
 * Applies the options of a target format; each value is mapped by code, none is passed on by name. What ffmpeg or we
 * ourselves make the file of is handed over as PNG.
 */
export function encode(image: Sharp, output: DrawnOutput, options: unknown, timing: Timing): Sharp {
  switch (output) {
    case 'avif': {
      const { quality, lossless, effort = AVIF_EFFORT, chroma_subsampling } = avifOptions.parse(options);
      const chromaSubsampling = lossless === true ? '4:4:4' : (chroma_subsampling ?? '4:2:0');
      return image.avif({ quality, lossless, effort, chromaSubsampling });
    }
    case 'gif': {
      const { colors, effort, loop = timing.loop } = gifOptions.parse(options);
      return image.gif({ colors, effort, loop, delay: timing.delay });
    }
    case 'jpg': {
      const { quality, progressive, optimize, chroma_subsampling } = jpgOptions.parse(options);
      return image.jpeg({ quality, progressive, mozjpeg: optimize, chromaSubsampling: chroma_subsampling });
    }
    case 'png': {
      const { compression_level, colors, progressive } = pngOptions.parse(options);
      return image.png({ compressionLevel: compression_level, progressive, ...(colors === undefined ? {} : { palette: true, colors }) });
    }
    case 'tiff': {
      const { compression = 'lzw', quality } = tiffOptions.parse(options);
      return image.tiff({ compression, quality });
    }
    case 'webp': {
      const { quality, lossless, effort, loop = timing.loop } = webpOptions.parse(options);
      return image.webp({ quality, lossless, effort, loop, delay: timing.delay });
    }
    case 'ico':
      return image.png();
    case 'bmp':
    case 'jp2':
    case 'jxl':
    case 'pcx':
    case 'ppm':
    case 'qoi':
    case 'tga':
      // Not for keeping: the next program takes it apart at once.
      return image.png({ compressionLevel: 0 });
  }
}

/** When the frames of an animation are shown: milliseconds each, and how often it plays. */
export type Timing = Pick<Metadata, 'delay' | 'loop'>;
