import type { FormatName } from '../domain/catalogue/formats.ts';

/** Bytes from the start of a file that are enough to tell its format; an SVG may begin with long comments. */
export const SNIFF_BYTES = 16_384;

type Test = (head: Buffer) => boolean;

/** True where the bytes at `offset` are those of `text`, one byte a character. */
function has(text: string, offset = 0): Test {
  const expected = Buffer.from(text, 'latin1');
  return (head) => head.subarray(offset, offset + expected.length).equals(expected);
}

function any(...tests: readonly Test[]): Test {
  return (head) => tests.some((test) => test(head));
}

function all(...tests: readonly Test[]): Test {
  return (head) => tests.every((test) => test(head));
}

/** TIFF and BigTIFF in both byte orders, but not Canon's camera raw, which is a TIFF that no TIFF reader can show. */
const isTiff = all(any(has('II*\0'), has('MM\0*'), has('II+\0\b\0\0\0'), has('MM\0+\0\b\0\0')), (head) => !has('CR', 8)(head));

const isZip = has('PK\x03\x04');
/** Older Office files, and newer ones that are encrypted. */
const isOle = has('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1');
const isAsf = has('\x30\x26\xb2\x75\x8e\x66\xcf\x11');
const isOgg = has('OggS');
const isId3 = has('ID3');

/**
 * One test for each format, of its first bytes alone. What is inside an archive, a compound file or a container of
 * films is looked into where the whole file lies.
 */
const TESTS: Readonly<Record<FormatName, Test>> = {
  aac: (head) => head[0] === 0xff && ((head[1] ?? 0) & 0xf6) === 0xf0,
  aiff: all(has('FORM'), any(has('AIFF', 8), has('AIFC', 8))),
  avi: all(has('RIFF'), has('AVI ', 8)),
  avif: isAvif,
  bmp: all(has('BM'), has('\0\0\0\0', 6)),
  csv: isText,
  doc: isOle,
  docx: any(isZip, isOle),
  epub: isZip,
  flac: any(has('fLaC'), isId3),
  flv: has('FLV\x01'),
  gif: any(has('GIF87a'), has('GIF89a')),
  heic: hasBrand(['heic', 'heix', 'heim', 'heis', 'hevc', 'hevx', 'mif1', 'msf1']),
  html: all(isText, (head) => /<(!doctype html|html|head|body|meta|title|h[1-6]|p|div|table|!--)\b/i.test(head.toString('latin1'))),
  ico: all(has('\0\0\x01\0'), (head) => head.length > 6 && head.readUInt16LE(4) > 0),
  jp2: any(has('\0\0\0\x0cjP  \r\n'), has('\xff\x4f\xff\x51')),
  jpg: has('\xff\xd8\xff'),
  jxl: any(has('\xff\x0a'), has('\0\0\0\x0cJXL \r\n')),
  key: isZip,
  m4a: hasBrand(['M4A ', 'M4B ', 'mp42', 'isom', 'iso2', 'mp41', 'dash']),
  md: isText,
  mkv: all(has('\x1a\x45\xdf\xa3'), (head) => head.subarray(0, 64).includes('matroska')),
  mov: any(hasBrand(['qt  ']), ...['moov', 'mdat', 'wide', 'free', 'skip'].map((atom) => has(atom, 4))),
  mp3: any(isId3, (head) => head[0] === 0xff && ((head[1] ?? 0) & 0xe6) === 0xe2),
  mp4: hasBrand(['isom', 'iso2', 'iso4', 'iso5', 'iso6', 'mp41', 'mp42', 'avc1', 'dash', 'M4V ', 'MSNV', '3gp4', '3gp5', '3gp6']),
  mpg: any(has('\0\0\x01\xba'), has('\0\0\x01\xb3')),
  numbers: isZip,
  odp: isZip,
  ods: isZip,
  odt: isZip,
  ogg: isOgg,
  opus: all(isOgg, (head) => head.subarray(0, 64).includes('OpusHead')),
  pages: isZip,
  pcx: all(has('\x0a'), has('\x01', 2)),
  pdf: (head) => head.subarray(0, 1024).includes('%PDF-'),
  png: has('\x89PNG\r\n\x1a\n'),
  ppm: (head) => /^P[1-7][\s#]/.test(head.toString('latin1', 0, 3)),
  ppt: isOle,
  pptx: any(isZip, isOle),
  psd: has('8BPS\0\x01'),
  qoi: has('qoif'),
  rtf: has('{\\rtf'),
  svg: isSvg,
  tga: isTga,
  tiff: isTiff,
  txt: isText,
  wav: all(has('RIFF'), has('WAVE', 8)),
  webm: all(has('\x1a\x45\xdf\xa3'), (head) => head.subarray(0, 64).includes('webm')),
  webp: all(has('RIFF'), has('WEBP', 8)),
  wma: isAsf,
  wmv: isAsf,
  xls: isOle,
  xlsx: any(isZip, isOle),
  xpm: (head) => head.subarray(0, 256).includes('XPM'),
  zip: isZip,
};

/** True when the first bytes are those of the declared format; nothing else is ever handed to a converter. */
export function matchesDeclared(head: Buffer, declared: FormatName): boolean {
  return TESTS[declared](head);
}

/** An ISO media file whose main brand is one of these. */
function hasBrand(brands: readonly string[]): Test {
  return (head) => has('ftyp', 4)(head) && brands.includes(head.toString('latin1', 8, 12));
}

/** Text in UTF-8, or UTF-16 with its byte order mark, that is no list of other files for a media player. */
function isText(head: Buffer): boolean {
  if (has('\xff\xfe')(head) || has('\xfe\xff')(head)) return true;
  if (head.includes(0)) return false;
  return !/^(#EXTM3U|ffconcat|<MPD)/i.test(head.toString('latin1').trimStart());
}

/** TGA has no mark of its own at its start; its few header fields allow few values. */
function isTga(head: Buffer): boolean {
  if (head.length < 18) return false;
  return (head[1] ?? 2) <= 1 && [1, 2, 3, 9, 10, 11].includes(head[2] ?? 0) && [8, 15, 16, 24, 32].includes(head[16] ?? 0);
}

/** An ISO media file is AVIF by its main brand, or by a compatible one where the main brand only says "an image". */
function isAvif(head: Buffer): boolean {
  if (!has('ftyp', 4)(head)) return false;
  const end = Math.min(head.readUInt32BE(0), head.length);
  const brands = head.toString('latin1', 8, end);
  if (['avif', 'avis'].includes(brands.slice(0, 4))) return true;
  const compatible = brands.slice(8).match(/.{4}/gs) ?? [];
  return ['mif1', 'msf1', 'miaf'].includes(brands.slice(0, 4)) && compatible.some((brand) => brand === 'avif' || brand === 'avis');
}

/** XML declaration, comments, processing instructions and document type that may stand before the root element. */
const XML_PROLOGUE = /^(?:\s+|<\?[^>]*\?>|<!--[^]*?-->|<!DOCTYPE\s+(?:[\w.-]+:)?svg\b[^[>]*(?:\[[^\]]*\]\s*)?>)/i;

/** How many pieces may stand before the root element; a bound on the work for a file of nothing but comments. */
const PROLOGUE_PIECES_MAX = 200;

/** Text in UTF-8, with or without byte order mark, whose root element is `svg`; a page with a drawing in it is not. */
function isSvg(head: Buffer): boolean {
  const text = decodeText(head)?.replace(/^\uFEFF/, '');
  if (text === undefined) return false;
  let rest = text;
  for (let pieces = 0; pieces < PROLOGUE_PIECES_MAX; pieces += 1) {
    const piece = XML_PROLOGUE.exec(rest)?.[0];
    if (piece === undefined) break;
    rest = rest.slice(piece.length);
  }
  return /^<(?:[A-Za-z_][\w.-]*:)?svg[\s/>]/.test(rest);
}

/** The head as text; undefined when it is not UTF-8 or holds NUL, as binary files do. The last character may be cut. */
function decodeText(head: Buffer): string | undefined {
  if (head.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(head.subarray(0, SNIFF_BYTES), { stream: true });
  } catch {
    return undefined;
  }
}
