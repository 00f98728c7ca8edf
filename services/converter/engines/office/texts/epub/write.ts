import { createHash } from 'node:crypto';
import { escapeText } from '../html/escape.ts';
import { LANGUAGE, type Page } from '../html/page.ts';
import { splitChapters, type Chapter, type Picture } from './chapters.ts';
import { writeZip } from './zip.ts';

const CONTAINER = `<?xml version="1.0" encoding="UTF-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile full-path="book/book.opf" media-type="application/oebps-package+xml"/></rootfiles>
</container>
`;

/** A date is required; the same text is to become the same book, so it is none of today. */
const MODIFIED = '2000-01-01T00:00:00Z';

/** Title of a book whose text has none. */
const UNTITLED = 'Untitled';

/**
 * A page as a book (EPUB 3): a chapter for each of its highest headings, a table of contents, its pictures as files. Unlike
 * the office program's own export, headings, lists and tables stay what they are.
 */
export function writeBook(page: Page): Buffer {
  const { chapters, pictures } = splitChapters(page.body);
  const title = page.title === '' ? (chapters.find((chapter) => chapter.title !== '')?.title ?? UNTITLED) : page.title;
  const language = LANGUAGE.test(page.language) ? page.language : 'und';
  const identifier = createHash('sha256').update(title).update('\0').update(page.body).digest('hex').slice(0, 32);
  const places = placesOf(chapters);
  const files = chapters.map(({ body, title: heading }, index) => ({ name: `book/${fileOf(index)}`, bytes: Buffer.from(document(heading === '' ? title : heading, language, linkChapters(body, places), true)) }));
  const contents = `<nav epub:type="toc" id="toc"><ol>${chapters.map((chapter, index) => `<li><a href="${fileOf(index)}">${escapeText(chapter.title === '' ? title : chapter.title)}</a></li>`).join('')}</ol></nav>`;
  return writeZip([
    { name: 'mimetype', bytes: Buffer.from('application/epub+zip'), stored: true },
    { name: 'META-INF/container.xml', bytes: Buffer.from(CONTAINER) },
    { name: 'book/book.opf', bytes: Buffer.from(packageOf({ title, language, identifier }, chapters, pictures)) },
    { name: 'book/contents.xhtml', bytes: Buffer.from(document(title, language, contents, false)) },
    { name: 'book/style.css', bytes: Buffer.from(page.styles) },
    ...files,
    ...pictures.map(({ name, bytes }) => ({ name: `book/${name}`, bytes, stored: true })),
  ]);
}

function fileOf(index: number): string {
  return `chapter-${index + 1}.xhtml`;
}

function document(title: string, language: string, body: string, styled: boolean): string {
  const sheet = styled ? '<link rel="stylesheet" type="text/css" href="style.css"/>' : '';
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" xml:lang="${language}" lang="${language}">
<head><title>${escapeText(title)}</title>${sheet}</head>
<body>
${body}
</body>
</html>
`;
}

/** In which file each place lies that a link may lead to. */
function placesOf(chapters: readonly Chapter[]): ReadonlyMap<string, string> {
  return new Map(chapters.flatMap(({ body }, index) => [...body.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => [id, fileOf(index)] as const)));
}

/** A link to a place that now lies in another file leads there; one to a place that is nowhere leads nowhere. */
function linkChapters(body: string, places: ReadonlyMap<string, string>): string {
  return body.replaceAll(/ href="#([^"]*)"/g, (_, id: string) => {
    const file = places.get(id);
    return file === undefined ? '' : ` href="${file}#${id}"`;
  });
}

interface Labels {
  readonly title: string;
  readonly language: string;
  readonly identifier: string;
}

function packageOf({ title, language, identifier }: Labels, chapters: readonly Chapter[], pictures: readonly Picture[]): string {
  const items = [
    '<item id="contents" href="contents.xhtml" media-type="application/xhtml+xml" properties="nav"/>',
    '<item id="style" href="style.css" media-type="text/css"/>',
    ...chapters.map((_, index) => `<item id="chapter-${index + 1}" href="${fileOf(index)}" media-type="application/xhtml+xml"/>`),
    ...pictures.map(({ name, mime }, index) => `<item id="picture-${index + 1}" href="${name}" media-type="${mime}"/>`),
  ];
  const spine = chapters.map((_, index) => `<itemref idref="chapter-${index + 1}"/>`);
  return `<?xml version="1.0" encoding="UTF-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:identifier id="id">urn:sha256:${identifier}</dc:identifier>
<dc:title>${escapeText(title)}</dc:title>
<dc:language>${language}</dc:language>
<meta property="dcterms:modified">${MODIFIED}</meta>
</metadata>
<manifest>${items.join('\n')}</manifest>
<spine>${spine.join('')}</spine>
</package>
`;
}
