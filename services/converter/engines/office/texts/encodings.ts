import type { INPUT_ENCODINGS, OUTPUT_ENCODINGS } from '../../../../../shared/domain/catalogue/options/text.ts';
import { EngineFailure } from '../../failure.ts';

type InputEncoding = (typeof INPUT_ENCODINGS)[number];
type OutputEncoding = (typeof OUTPUT_ENCODINGS)[number];

/** Byte order marks; the three bytes of UTF-8 are no prefix of the others, nor the other way round. */
const MARKS = [
  { encoding: 'utf-8', bytes: Buffer.from([0xef, 0xbb, 0xbf]) },
  { encoding: 'utf-16le', bytes: Buffer.from([0xff, 0xfe]) },
  { encoding: 'utf-16be', bytes: Buffer.from([0xfe, 0xff]) },
] as const;

/** What is assumed where nothing says otherwise: the encoding of most texts that are not UTF-8, in which every byte means something. */
const FALLBACK = 'windows-1252';

/** What windows-1252 has where latin1 has control characters, from 0x80 to 0x9f; several versions of Node decode it as latin1. */
const WINDOWS_1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008DŽ\u008F\u0090‘’“”•–—˜™š›œ\u009DžŸ';
const WINDOWS_1252_FIRST = 0x80;

/** Written for a character that an encoding lacks. */
const UNKNOWN = '?'.codePointAt(0) ?? 0;

/**
 * Reads a text. A byte order mark counts before all else, then what the client said, then what the text says of itself.
 * @throws EngineFailure `not_what_it_claims` when it holds NUL, as no text does and every binary file.
 */
export function decodeText(bytes: Buffer, asked: InputEncoding = 'auto', declared?: string): string {
  const text = decode(bytes, asked, declared);
  if (text.includes('\0')) throw new EngineFailure('not_what_it_claims');
  return text;
}

function decode(bytes: Buffer, asked: InputEncoding, declared: string | undefined): string {
  const mark = MARKS.find((candidate) => bytes.subarray(0, candidate.bytes.length).equals(candidate.bytes));
  // TextDecoder takes the mark away by itself.
  if (mark) return decodeAs(mark.encoding, bytes);
  if (asked !== 'auto') return decodeAs(asked, bytes);
  const named = declared === undefined ? undefined : knownEncoding(declared);
  if (named !== undefined) return decodeAs(named, bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return decodeAs(FALLBACK, bytes);
  }
}

function decodeAs(encoding: string, bytes: Uint8Array): string {
  if (encoding !== FALLBACK) return new TextDecoder(encoding).decode(bytes);
  return Buffer.from(bytes).toString('latin1').replaceAll(/[\u0080-\u009F]/g, (character) => WINDOWS_1252[character.charCodeAt(0) - WINDOWS_1252_FIRST] ?? character);
}

/** A name that a file gives may be nonsense; one that says UTF-16 was itself read byte by byte, so it is not true. */
function knownEncoding(name: string): string | undefined {
  try {
    const { encoding } = new TextDecoder(name);
    return encoding.startsWith('utf-16') ? undefined : encoding;
  } catch {
    return undefined;
  }
}

/** The bytes of a text in an encoding; `bom` puts a byte order mark before it, where the encoding has one. */
export function encodeText(text: string, encoding: OutputEncoding = 'utf-8', bom = encoding.startsWith('utf-16')): Buffer {
  const mark = bom ? MARKS.find((candidate) => candidate.encoding === encoding)?.bytes : undefined;
  const bytes = encode(text, encoding);
  return mark === undefined ? bytes : Buffer.concat([mark, bytes]);
}

function encode(text: string, encoding: OutputEncoding): Buffer {
  switch (encoding) {
    case 'utf-8':
      return Buffer.from(text, 'utf8');
    case 'utf-16le':
      return Buffer.from(text, 'utf16le');
    case 'utf-16be':
      return Buffer.from(text, 'utf16le').swap16();
    default:
      return encodeSingleBytes(text, encoding);
  }
}

/** Node decodes these encodings but does not write them; the decoder, asked for all 256 bytes, tells what each means. */
function encodeSingleBytes(text: string, encoding: OutputEncoding): Buffer {
  const meanings = decodeAs(encoding, Uint8Array.from({ length: 256 }, (_, byte) => byte));
  const bytes = new Map(Array.from(meanings, (character, byte) => [character, byte] as const).filter(([character]) => character !== '\uFFFD'));
  const encoded = Buffer.alloc(text.length);
  let length = 0;
  for (const character of text) encoded[length++] = bytes.get(character) ?? UNKNOWN;
  return encoded.subarray(0, length);
}
