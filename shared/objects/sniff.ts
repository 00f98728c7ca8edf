import type { FormatName } from '../domain/formats.ts';

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

/** One test for each format; no two of them hold for the same bytes. */
const TESTS: Readonly<Record<FormatName, Test>> = {
  avif: isAvif,
  gif: any(has('GIF87a'), has('GIF89a')),
  jpg: has('\xff\xd8\xff'),
  png: has('\x89PNG\r\n\x1a\n'),
  svg: isSvg,
  tiff: isTiff,
  webp: all(has('RIFF'), has('WEBP', 8)),
};

/** The format that a file's first bytes show, or undefined when it is none of the catalogue. */
export function sniffFormat(head: Buffer): FormatName | undefined {
  return (Object.keys(TESTS) as FormatName[]).find((format) => TESTS[format](head));
}

/** True when the first bytes are those of the declared format; nothing else is ever handed to a converter. */
export function matchesDeclared(head: Buffer, declared: FormatName): boolean {
  return TESTS[declared](head);
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
