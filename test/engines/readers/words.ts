import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { strFromU8, unzipSync } from 'fflate';
import WordExtractor from 'word-extractor';
import type * as Xlsx from 'xlsx';
import type { FormatName } from '../../../shared/domain/catalogue/formats.ts';

/** A CommonJS package, not all of whose exports Node can name. */
const xlsx = createRequire(import.meta.url)('xlsx') as typeof Xlsx;

/** Text of a large document. */
const OUTPUT_BYTES_MAX = 256 * 1024 * 1024;

/**
 * The words of a document, each as often as it stands there, read by a program that had no part in converting it.
 * Undefined where there is no such program.
 * `into` leaves out what a result of that format cannot hold.
 */
export async function wordsOf(path: string, bytes: Buffer, format: FormatName, into?: FormatName): Promise<readonly string[] | undefined> {
  const text = await textOf(path, bytes, format, into);
  return text?.normalize('NFKC').toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? (text === undefined ? undefined : []);
}

async function textOf(path: string, bytes: Buffer, format: FormatName, into: FormatName | undefined): Promise<string | undefined> {
  switch (format) {
    case 'docx':
      return members(bytes, /^word\/document\.xml$/).map(wordprocessingText).join(' ');
    case 'pptx':
      return members(bytes, /^ppt\/slides\/slide\d+\.xml$/).map((xml) => xmlText(xml, /<\/a:p>|<a:br\b[^>]*>/g)).join(' ');
    case 'odt':
    case 'odp':
      return members(bytes, /^content\.xml$/).map(openDocumentText).join(' ');
    case 'xlsx':
    case 'xls':
    case 'ods':
      // A csv holds one sheet, the first unless another was asked for.
      return (into === 'csv' ? cellTexts(bytes).slice(0, 1) : cellTexts(bytes)).flat(2).join(' ');
    case 'epub':
      return members(bytes, /(?<!\bnav)(?<!\bcontents)\.x?html?$/).map(htmlText).join(' ');
    case 'doc':
      return (await new WordExtractor().extract(bytes)).getBody();
    case 'ppt':
      return powerPointText(bytes);
    case 'rtf':
      return richText(bytes.toString('latin1'));
    case 'html':
      return htmlText(bytes.toString('utf8'));
    case 'md':
      return markdownText(bytes.toString('utf8'));
    case 'txt':
    case 'csv':
      return bytes.toString('utf8');
    case 'pdf':
      return execFileSync('pdftotext', ['-enc', 'UTF-8', path, '-'], { maxBuffer: OUTPUT_BYTES_MAX }).toString();
    case 'svg':
      return xmlText(bytes.toString('utf8'), /<\/text>/g);
    default:
      return undefined;
  }
}

/** Rows of cells of each sheet as a person sees them. */
export function cellTexts(bytes: Buffer): readonly (readonly (readonly string[])[])[] {
  const book = xlsx.read(bytes, { type: 'buffer' });
  return book.SheetNames.map((name) => xlsx.utils.sheet_to_json<string[]>(book.Sheets[name] ?? {}, { header: 1, raw: false, defval: '' }));
}

/** The parts of an archive whose names match, as text, in the order of their names. */
export function members(bytes: Buffer, name: RegExp): string[] {
  const files = unzipSync(bytes, { filter: (file) => name.test(file.name) });
  return Object.keys(files).toSorted().map((key) => strFromU8(files[key] ?? new Uint8Array()));
}

function wordprocessingText(xml: string): string {
  return xmlText(xml.replaceAll(/<w:instrText\b[^>]*>[^<]*<\/w:instrText>/g, ''), /<\/w:p>|<w:(tab|br)\b[^>]*>/g);
}

function openDocumentText(xml: string): string {
  const shown = xml.replaceAll(/<office:annotation\b[\s\S]*?<\/office:annotation>|<presentation:notes\b[\s\S]*?<\/presentation:notes>|<svg:(title|desc)>[\s\S]*?<\/svg:\1>/g, '');
  return xmlText(shown, /<text:(s|tab|line-break)\b[^>]*>|<\/text:(p|h)>/g);
}

/** Markdown without what nobody reads: the title before it, pictures, where links lead, numbers of items. */
function markdownText(md: string): string {
  return md.replace(/^---\n[\s\S]*?\n---\n/, '').replaceAll(/!\[[^\]]*\]\([^)]*\)/g, '').replaceAll(/\]\([^)]*\)/g, ']').replaceAll(/^[ \t]*\d+\. /gm, '');
}

function htmlText(html: string): string {
  return xmlText(html.replaceAll(/<(script|style|title)\b[\s\S]*?<\/\1>|<!--[\s\S]*?-->/gi, ''), /<\/?(p|br|div|td|th|tr|li|h[1-6])\b[^>]*>/gi);
}

function xmlText(xml: string, gaps: RegExp): string {
  return xml.replaceAll(gaps, ' ').replaceAll(/<[^>]+>/g, '').replaceAll(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (whole, decimal: string, hex: string, name: string) => entity(whole, decimal, hex, name));
}

function entity(whole: string, decimal?: string, hex?: string, name?: string): string {
  if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
  if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
  return { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }[name ?? ''] ?? whole;
}

/** RTF as text: groups that hold no text of the document are left out, escapes are resolved. */
function richText(rtf: string): string {
  let text = '';
  const hidden: boolean[] = [];
  let skip = 0;
  for (const [token] of rtf.matchAll(/\\'[\da-f]{2}|\\u-?\d+ ?|\\\*|\\[a-z]+-?\d* ?|\\[^a-z]|[{}]|[^\\{}\r\n]+/gi)) {
    if (token === '{') hidden.push(hidden.at(-1) ?? false);
    else if (token === '}') hidden.pop();
    else if (token === '\\*' || /^\\(fonttbl|colortbl|stylesheet|info|pict|header[lrf]?|footer[lrf]?|footnote|listtable|listoverridetable|generator|themedata|datastore)\b/.test(token)) hidden[hidden.length - 1] = true;
    else if (hidden.at(-1) === true) continue;
    else if (token.startsWith("\\'")) {
      if (skip > 0) skip -= 1;
      else text += new TextDecoder('windows-1252').decode(Buffer.from(token.slice(2), 'hex'));
    } else if (/^\\u-?\d/.test(token)) {
      text += String.fromCharCode((Number.parseInt(token.slice(2), 10) + 65_536) % 65_536);
      skip = 1;
    } else if (/^\\(par|line|tab|cell|row|sect|page)\b/.test(token)) text += ' ';
    else if (!token.startsWith('\\')) {
      text += skip > 0 ? token.slice(1) : token;
      skip = 0;
    }
  }
  return text;
}

/** Records of an older PowerPoint file that hold text: UTF-16, and Latin-1. */
const [TEXT_CHARS, TEXT_BYTES] = [0x0fa0, 0x0fa8];
/** The list of slides with the text of their placeholders (instance 0; others list masters and notes), and a slide. */
const [SLIDE_LIST, SLIDE, DOCUMENT] = [0x0ff0, 0x03ee, 0x03e8];

function powerPointText(bytes: Buffer): string {
  const stream = xlsx.CFB.find(xlsx.CFB.read(bytes, { type: 'buffer' }), 'PowerPoint Document')?.content;
  return stream === undefined ? '' : recordTexts(Buffer.from(stream), false).join(' ');
}

/** Texts below those records that are shown on slides; all of them once `isShown`. */
function recordTexts(records: Buffer, isShown: boolean): string[] {
  const texts: string[] = [];
  for (let at = 0; at + 8 <= records.length; ) {
    const [flags, type, length] = [records.readUInt16LE(at), records.readUInt16LE(at + 2), records.readUInt32LE(at + 4)];
    const content = records.subarray(at + 8, at + 8 + length);
    const isSlides = type === SLIDE || (type === SLIDE_LIST && flags >> 4 === 0);
    if ((flags & 0xf) === 0xf && (isShown || isSlides || type === DOCUMENT)) texts.push(...recordTexts(content, isShown || isSlides));
    else if (isShown && (type === TEXT_CHARS || type === TEXT_BYTES)) texts.push(content.toString(type === TEXT_CHARS ? 'utf16le' : 'latin1'));
    at += 8 + length;
  }
  return texts;
}

/** How many of the words of `source` are in `result`, each counted as often as it stands there; 0 to 1. */
export function recall(source: readonly string[], result: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const word of result) counts.set(word, (counts.get(word) ?? 0) + 1);
  let found = 0;
  for (const word of source) {
    const count = counts.get(word) ?? 0;
    if (count === 0) continue;
    counts.set(word, count - 1);
    found += 1;
  }
  return source.length === 0 ? 1 : found / source.length;
}

/** The extension that a fixture's name ends in. */
export function extensionIn(name: string): string {
  return extname(name).slice(1).toLowerCase();
}
