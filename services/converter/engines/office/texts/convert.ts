import { readFile, writeFile } from 'node:fs/promises';
import { EngineFailure } from '../../failure.ts';
import { tableToCells, tableToCsv, tableToHtml } from './csv/table.ts';
import { decodeText, encodeText } from './encodings.ts';
import { readBook } from './epub/read.ts';
import { writeBook } from './epub/write.ts';
import { declaredCharset, isXhtml } from './html/charset.ts';
import { cleanPage, PAGE_CHARACTERS_MAX } from './html/clean.ts';
import { escapeText } from './html/escape.ts';
import { pageToMarkdown } from './html/markdown.ts';
import { writePage, type Page } from './html/page.ts';
import { pageToText } from './html/text.ts';
import { readMarkdown } from './markdown.ts';
import type { TextOptions, TextTask } from './task.ts';

/** Characters of a text without pictures: some ten thousand pages. */
const TEXT_CHARACTERS_MAX = 20_000_000;

/** A list of other files for a media player, which some programs follow. */
const PLAYLIST = /^\s*(?:#EXTM3U|ffconcat\b|<MPD\b)/i;

/**
 * Converts a text, a page, a book or a csv into another kind of text; the process it runs in is thrown away afterwards.
 * @throws EngineFailure when the source cannot be converted; anything else is a fault of this machine.
 */
export async function convertText({ source, result, input, output, options }: TextTask): Promise<void> {
  const bytes = await readFile(source);
  if (input !== 'epub' && bytes.length > PAGE_CHARACTERS_MAX) throw new EngineFailure('too_much_text');
  await writeFile(result, input === 'csv' ? convertTable(decode(bytes, options), output, options) : await convertPage(bytes, input, output, options));
}

function decode(bytes: Buffer, options: TextOptions, declared?: string): string {
  const text = decodeText(bytes, options.input_encoding, declared);
  if (PLAYLIST.test(text.slice(0, 1024))) throw new EngineFailure('not_what_it_claims');
  return text;
}

function convertTable(text: string, output: TextTask['output'], options: TextOptions): Buffer {
  if (output === 'cells') return encodeText(tableToCells(text, options));
  if (output === 'html') return encodeText(writePage(bare(tableToHtml(text, options))));
  return encodeText(tableToCsv(text, options), options.encoding, options.bom);
}

async function convertPage(bytes: Buffer, input: TextTask['input'], output: TextTask['output'], options: TextOptions): Promise<Buffer> {
  if (input === 'txt' && output === 'txt') return encodeLines(decodeLines(bytes, options), options);
  if (input === 'txt' && output === 'epub') return writeBook(bare(paragraphsOf(decodeLines(bytes, options))));
  const page = await readPage(bytes, input, options, output !== 'txt' && options.images !== 'omit');
  if (output === 'txt') return encodeLines(pageToText(page), options);
  if (output === 'epub') return writeBook(page);
  return encodeText(output === 'md' ? pageToMarkdown(page) : writePage(page));
}

async function readPage(bytes: Buffer, input: TextTask['input'], options: TextOptions, pictures: boolean): Promise<Page> {
  if (input === 'epub') return readBook(bytes, pictures);
  if (input === 'md') return readMarkdown(decodeLines(bytes, options), { xml: false, pictures });
  if (input === 'txt') return bare(`<pre style="white-space: pre-wrap">${escapeText(decodeLines(bytes, options))}</pre>`);
  const text = decode(bytes, options, declaredCharset(bytes));
  return cleanPage(text, { xml: isXhtml(text), pictures });
}

function bare(body: string): Page {
  return { title: '', language: '', styles: '', body };
}

/** Paragraphs with empty lines between them, as books are set; ends of lines within one stay. */
function paragraphsOf(text: string): string {
  const paragraphs = text.split(/\n[ \t]*\n+/).filter((paragraph) => paragraph.trim() !== '');
  return paragraphs.map((paragraph) => `<p>${escapeText(paragraph).replaceAll('\n', '<br>')}</p>`).join('\n');
}

/** A text with its lines ended as everybody but Windows ends them. */
function decodeLines(bytes: Buffer, options: TextOptions): string {
  const text = decode(bytes, options).replaceAll(/\r\n?/g, '\n');
  if (text.length > TEXT_CHARACTERS_MAX) throw new EngineFailure('too_much_text');
  return text;
}

function encodeLines(text: string, { encoding, bom, line_endings }: TextOptions): Buffer {
  return encodeText(line_endings === 'crlf' ? text.replaceAll('\n', '\r\n') : text, encoding, bom);
}
