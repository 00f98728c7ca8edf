import type { FormatName } from '../formats.ts';
import type { Conversions } from './conversions.ts';

/** What the prebuilt sharp decodes by itself; icons are unpacked by us. */
const DRAWN: readonly FormatName[] = ['avif', 'gif', 'ico', 'jpg', 'png', 'svg', 'tiff', 'webp'];
/** What ffmpeg unpacks for sharp. */
const UNPACKED: readonly FormatName[] = ['bmp', 'jp2', 'jxl', 'pcx', 'ppm', 'psd', 'qoi', 'tga', 'xpm'];

/** What sharp encodes; an icon is some PNG pictures with a table before them. */
const ENCODED: readonly FormatName[] = ['avif', 'gif', 'ico', 'jpg', 'png', 'tiff', 'webp'];
/** What ffmpeg makes out of the picture that sharp has drawn. */
const PACKED: readonly FormatName[] = ['bmp', 'jp2', 'jxl', 'pcx', 'ppm', 'qoi', 'tga'];

const ROW = { engine: 'image', toItself: true } as const;

/** What the image engine converts. Whatever the source is, sharp does the drawing, so all targets have the same options. */
export const IMAGE_CONVERSIONS: readonly Conversions[] = [
  { ...ROW, tools: ['sharp'], inputs: DRAWN, outputs: ENCODED },
  { ...ROW, tools: ['sharp', 'ffmpeg'], inputs: DRAWN, outputs: PACKED },
  { ...ROW, tools: ['sharp', 'ffmpeg'], inputs: UNPACKED, outputs: [...ENCODED, ...PACKED] },
  { ...ROW, tools: ['sharp', 'libheif'], inputs: ['heic'], outputs: ENCODED },
  { ...ROW, tools: ['sharp', 'libheif', 'ffmpeg'], inputs: ['heic'], outputs: PACKED },
  { ...ROW, tools: ['pdfkit', 'sharp'], inputs: DRAWN, outputs: ['pdf'] },
  { ...ROW, tools: ['pdfkit', 'sharp', 'ffmpeg'], inputs: UNPACKED, outputs: ['pdf'] },
  { ...ROW, tools: ['pdfkit', 'sharp', 'libheif'], inputs: ['heic'], outputs: ['pdf'] },
];
