import { all, any, has, not, type HeadTest } from './bytes.ts';
import { skipPrologue } from './prologue.ts';

/** Control characters that are found in texts: backspace to carriage return, the end of a file from DOS, and ESC. */
const CONTROLS_IN_TEXT: ReadonlySet<number> = new Set([8, 9, 10, 11, 12, 13, 26, 27]);
const FIRST_PRINTABLE = 32;
/** Characters among which one other control character may be, as broken exports have them; what is packed has ten times more. */
const TEXT_PER_CONTROL = 100;

/**
 * Lists of other files for a media player, whatever they are named: HLS, ffmpeg's concat, DASH, SDP, and the old kinds.
 * No text that people convert begins so.
 */
const PLAYLIST = /^(?:#EXTM3U|#EXT-X-|ffconcat\s|\[playlist\]|v=0\s+[a-z]=)/i;
/** The same, where they are XML. */
const XML_PLAYLIST = /^<(?:\w{1,20}:)?(?:MPD|SmoothStreamingMedia|smil|asx)\b/i;

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
  let controls = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0) return true;
    if (code < FIRST_PRINTABLE && !CONTROLS_IN_TEXT.has(code)) controls += 1;
  }
  return controls * TEXT_PER_CONTROL > text.length;
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
  where((text) => !PLAYLIST.test(text.trimStart()) && !XML_PLAYLIST.test(skipPrologue(text, 'any'))),
  not(OTHER_DOCUMENT),
);

/** Text with a tag that pages have; one that begins with another kind of XML is none. */
export const isHtml: HeadTest = all(
  isText,
  where((text) => !/^<(?:svg\b|office:|\w{1,20}:document\b|Workbook\b)/i.test(skipPrologue(text, 'any'))),
  where((text) => /<(?:!doctype html|html|head|body|meta|title|h[1-6]|p|br|a|b|i|ul|ol|li|span|pre|font|center|div|table|section|article|main|!--)\b/i.test(text)),
);

/** Lines of values; a page is none. */
export const isCsv: HeadTest = all(
  isText,
  where((text) => !/^<(?:!doctype html|html|\?xml)\b/i.test(text.trimStart())),
);
