import type { FormatName } from '../../domain/catalogue/formats.ts';
import { all, any, has, type HeadTest } from './bytes.ts';
import { isAvif, isHeic, isIsoFilm } from './iso-media.ts';
import { afterId3, hasAdtsFrames, hasMpegFrames } from './mpeg-audio.ts';
import { isBmp, isIco, isPcx, isPnm, isTga, isTiff, isXpm } from './pictures.ts';
import { isSvg } from './svg.ts';
import { isCsv, isHtml, isText } from './text.ts';

/** Bytes from the start of a file that are enough to tell its format; an SVG may begin with long comments. */
export const SNIFF_BYTES = 16_384;

const isZip = has('PK\x03\x04');
/** Older Office files, and newer ones that are encrypted. */
const isOle = has('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1');
const isAsf = has('\x30\x26\xb2\x75\x8e\x66\xcf\x11');
const isOgg = has('OggS\0');
/** What the first packet of an Opus recording begins with. */
const isOpus = all(isOgg, (head) => head.subarray(0, 300).includes('OpusHead'));
/** Matroska and WebM, which is a narrower kind of it; one demuxer reads both, and people name either like the other. */
const isMatroska = all(has('\x1a\x45\xdf\xa3'), (head) => /\x42\x82(?:[\x80-\x9f]|[\x40-\x7f][^])(?:matroska|webm)/.test(head.toString('latin1', 4, 96)));
const isWav = all(any(has('RIFF'), has('RF64')), has('WAVE', 8));

/**
 * One test for each format, of its first bytes alone. What is inside an archive, a compound file or behind a long tag is
 * looked into where the whole file lies.
 */
const TESTS: Readonly<Record<FormatName, HeadTest>> = {
  aac: afterId3(hasAdtsFrames),
  aiff: all(has('FORM'), any(has('AIFF', 8), has('AIFC', 8))),
  avi: all(has('RIFF'), has('AVI ', 8)),
  avif: isAvif,
  bmp: isBmp,
  csv: isCsv,
  doc: isOle,
  docx: any(isZip, isOle),
  epub: isZip,
  flac: afterId3(has('fLaC')),
  flv: has('FLV\x01'),
  gif: any(has('GIF87a'), has('GIF89a')),
  heic: isHeic,
  html: isHtml,
  ico: isIco,
  jp2: any(has('\0\0\0\x0cjP  \r\n'), has('\xff\x4f\xff\x51')),
  jpg: has('\xff\xd8\xff'),
  jxl: any(has('\xff\x0a'), has('\0\0\0\x0cJXL \r\n')),
  key: isZip,
  m4a: isIsoFilm,
  md: isText,
  mkv: isMatroska,
  mov: isIsoFilm,
  mp3: afterId3(hasMpegFrames),
  mp4: isIsoFilm,
  mpg: any(has('\0\0\x01\xba'), has('\0\0\x01\xb3')),
  numbers: isZip,
  odp: isZip,
  ods: isZip,
  odt: isZip,
  ogg: isOgg,
  opus: isOpus,
  pages: isZip,
  pcx: isPcx,
  pdf: (head) => /%PDF-\d/.test(head.toString('latin1', 0, 1024)),
  png: has('\x89PNG\r\n\x1a\n'),
  ppm: isPnm,
  ppt: isOle,
  pptx: any(isZip, isOle),
  psd: has('8BPS\0\x01'),
  qoi: has('qoif'),
  rtf: has('{\\rtf'),
  svg: isSvg,
  tga: isTga,
  tiff: isTiff,
  txt: isText,
  wav: isWav,
  webm: isMatroska,
  webp: all(has('RIFF'), has('WEBP', 8)),
  wma: isAsf,
  wmv: isAsf,
  xls: isOle,
  xlsx: any(isZip, isOle),
  xpm: isXpm,
  zip: any(isZip, has('PK\x05\x06')),
};

/** True when the first bytes are those of the declared format; nothing else is ever handed to a converter. */
export function matchesDeclared(head: Buffer, declared: FormatName): boolean {
  return TESTS[declared](head.subarray(0, SNIFF_BYTES));
}
