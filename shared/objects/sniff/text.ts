import { all, any, has, not, type HeadTest } from './bytes.ts';

/** Control characters that are found in texts: backspace to carriage return, the end of a file from DOS, and ESC. */
const CONTROLS_IN_TEXT: ReadonlySet<number> = new Set([8, 9, 10, 11, 12, 13, 26, 27]);
const FIRST_PRINTABLE = 32;

/**
 * Lists of other files for a media player, whatever they are named: HLS, ffmpeg's concat, DASH, SDP, and the old kinds.
 * No text that people convert begins so.
 */
const PLAYLIST = /^\s*(?:#EXTM3U|#EXT-X-|ffconcat\s|\[playlist\]|v=0\s+[a-z]=|(?:<\?xml[^>]{0,200}\?>|<!--[^]{0,2000}?-->|\s)*<(?:\w{1,20}:)?(?:MPD|SmoothStreamingMedia|smil|asx)\b)/i;

/** Documents that are text on the outside; read as text they would give their own commands. */
const OTHER_DOCUMENT = any(has('%PDF-'), has('{\\rtf'), has('%!PS'));

/**
 * The head as text: by its byte order mark, else UTF-8, else one byte a character, as older programs write it.
 * Undefined where it can be no text. The last character may be cut.
 */
export function decodeHead(head: Buffer): string | undefined {
  const text = decodeMarked(head) ?? decode(head, 'utf-8') ?? head.toString('latin1');
  return isBinary(text) ? undefined : text;
}

function isBinary(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < FIRST_PRINTABLE && !CONTROLS_IN_TEXT.has(code)) return true;
  }
  return false;
}

function decodeMarked(head: Buffer): string | undefined {
  if (has('\xff\xfe\0\0')(head)) return undefined;
  if (has('\xff\xfe')(head)) return decode(head.subarray(2), 'utf-16le');
  if (has('\xfe\xff')(head)) return decode(head.subarray(2), 'utf-16be');
  return undefined;
}

/** Undefined where the bytes are not of the encoding. */
function decode(bytes: Buffer, encoding: 'utf-8' | 'utf-16le' | 'utf-16be'): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return undefined;
  }
}

function where(test: (text: string) => boolean): HeadTest {
  return (head) => {
    const text = decodeHead(head);
    return text !== undefined && test(text);
  };
}

/** Text that is no list of other files, and no document that only looks like text. */
export const isText: HeadTest = all(
  where((text) => !PLAYLIST.test(text)),
  not(OTHER_DOCUMENT),
);

/** Text with a tag that pages have; one that begins with another kind of XML is none. */
export const isHtml: HeadTest = all(
  isText,
  where((text) => !/^\s*(?:<\?xml[^>]*\?>\s*)?<(?:svg|office:|[a-z]+:document|Workbook\b)/i.test(text)),
  where((text) => /<(?:!doctype html|html|head|body|meta|title|h[1-6]|p|br|a|b|i|ul|ol|li|span|pre|font|center|div|table|section|article|main|!--)\b/i.test(text)),
);

/** Lines of values; a page is none. */
export const isCsv: HeadTest = all(
  isText,
  where((text) => !/^\s*<(?:!doctype html|html|\?xml)\b/i.test(text)),
);
