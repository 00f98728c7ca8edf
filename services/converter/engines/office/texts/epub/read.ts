import { decodeText } from '../encodings.ts';
import { declaredCharset } from '../html/charset.ts';
import { cleanPage, PAGE_CHARACTERS_MAX } from '../html/clean.ts';
import type { Page } from '../html/page.ts';
import { pictureAddress } from '../html/pictures.ts';
import { EngineFailure } from '../../../failure.ts';
import { openArchive, type Archive } from './archive.ts';
import { readContents, resolveName } from './contents.ts';

/** Where a picture or a link stands in a page; only what is named there is unpacked. */
const PICTURE = /<(?:\w+:)?(?:img|image)\b[^>]{0,2000}?\s(?:xlink:)?(?:src|href)\s*=\s*["']([^"']{1,1000})["']/gi;

/**
 * Reads a book as one page: its chapters in reading order, with their pictures, each on a new page. Chapters look as the
 * reader's own style has it; those of the book's styles that stand in separate files are left out.
 * @throws EngineFailure `damaged`, `unsupported_feature`, `unpacks_too_large`.
 */
export async function readBook(bytes: Buffer, pictures: boolean): Promise<Page> {
  const archive = await openArchive(bytes);
  const contents = await readContents(archive);
  const bodies: string[] = [];
  let characters = 0;
  for (const name of contents.chapters) {
    const { body } = await readChapter(archive, name, pictures);
    characters += body.length;
    if (characters > PAGE_CHARACTERS_MAX) throw new EngineFailure('unpacks_too_large');
    bodies.push(`<div style="page-break-before: ${bodies.length === 0 ? 'auto' : 'always'}">\n${body.trim()}\n</div>`);
  }
  return { title: contents.title, language: contents.language, styles: '', body: bodies.join('\n') };
}

async function readChapter(archive: Archive, name: string, pictures: boolean): Promise<Page> {
  const bytes = await archive.read(name);
  const text = decodeText(bytes, 'auto', declaredCharset(bytes));
  const found = pictures ? await readPictures(archive, name, text) : new Map<string, string>();
  return cleanPage(text, {
    xml: true,
    pictures,
    resolve: (address) => found.get(resolveName(name, address) ?? ''),
    relink: (address) => (address.includes('#') ? address.slice(address.indexOf('#')) : undefined),
  });
}

async function readPictures(archive: Archive, chapter: string, text: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const [, address = ''] of text.matchAll(PICTURE)) {
    const name = resolveName(chapter, address.replaceAll('&amp;', '&'));
    if (name === undefined || found.has(name) || !archive.has(name)) continue;
    const picture = pictureAddress(await archive.read(name));
    if (picture !== undefined) found.set(name, picture);
  }
  return found;
}
