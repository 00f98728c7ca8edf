import type { Box, Style } from './model.ts';

/** A word as `pdftotext -bbox` gives it. */
export interface PlainWord extends Box {
  readonly text: string;
}

/** A page of plain words, sizes in points. */
export interface PlainPage {
  readonly width: number;
  readonly height: number;
  readonly words: readonly PlainWord[];
}

/** A stretch of text in one style, as `pdftohtml -xml` gives it. */
export type Fragment = Box & Style;

/** A picture that `pdftohtml -xml` wrote into a file beside it. */
export type PictureFile = Box & { readonly file: string };

/** What `pdftohtml -xml` gives for one page. */
export interface StyledPage {
  readonly fragments: readonly Fragment[];
  readonly pictures: readonly PictureFile[];
}

/** Protocols that a link in a document may have. */
const LINKS: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:']);

/** Longest address that is kept, characters. */
const HREF_MAX = 2_000;

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Characters that no XML may hold, and marks that have no width and no meaning in text. */
const UNWRITABLE = /[\p{Cc}\p{Cs}\u200B\uFEFF\uFFFE\uFFFF]/gu;

/** Text as it was before it was written into XML, without what cannot be written into XML again. */
export function decodeXml(text: string): string {
  const decoded = text.replace(/&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|([a-z]{2,4}));/g, (whole, decimal: string | undefined, hex: string | undefined, name: string | undefined) => {
    if (name !== undefined) return ENTITIES[name] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex ?? '0', 16) : Number(decimal);
    return code > 0x10_ffff ? '' : String.fromCodePoint(code);
  });
  return decoded.replace(UNWRITABLE, '');
}

/** Reads what `pdftotext -bbox` wrote. */
export function readWords(xml: string): readonly PlainPage[] {
  return [...xml.matchAll(/<page width="([\d.]+)" height="([\d.]+)">([^]*?)<\/page>/g)].map(([, width, height, content = '']) => ({
    width: Number(width),
    height: Number(height),
    words: [...content.matchAll(/<word xMin="(-?[\d.]+)" yMin="(-?[\d.]+)" xMax="(-?[\d.]+)" yMax="(-?[\d.]+)">([^<]*)<\/word>/g)]
      .map(([, left, top, right, bottom, text = '']) => ({ left: Number(left), top: Number(top), right: Number(right), bottom: Number(bottom), text: decodeXml(text).trim() }))
      .filter(({ text }) => text !== ''),
  }));
}

/** Reads what `pdftohtml -xml` wrote. */
export function readStyles(xml: string): readonly StyledPage[] {
  const fonts = new Map<string, Omit<Style, 'href'>>();
  return [...xml.matchAll(/<page number="\d+"[^>]*>([^]*?)<\/page>/g)].map(([, content = '']) => {
    for (const [, id = '', size, family = ''] of content.matchAll(/<fontspec id="(\d+)" size="(-?[\d.]+)" family="([^"]*)"/g)) fonts.set(id, { size: Math.max(1, Number(size)), ...styleOfFamily(family) });
    return { fragments: readFragments(content, fonts), pictures: readPictures(content) };
  });
}

function readFragments(content: string, fonts: ReadonlyMap<string, Omit<Style, 'href'>>): readonly Fragment[] {
  const plain = { size: 10, bold: false, italic: false, mono: false };
  return [...content.matchAll(/<text top="(-?[\d.]+)" left="(-?[\d.]+)" width="(-?[\d.]+)" height="(-?[\d.]+)" font="(\d+)">([^]*?)<\/text>/g)].map(([, top, left, width, height, font = '', text = '']) => {
    const style = fonts.get(font) ?? plain;
    return {
      left: Number(left),
      top: Number(top),
      right: Number(left) + Number(width),
      bottom: Number(top) + Number(height),
      ...style,
      bold: style.bold || text.includes('<b>'),
      italic: style.italic || text.includes('<i>'),
      href: linkOf(/<a href="([^"]*)">/.exec(text)?.[1]),
    };
  });
}

/** Names of files are the program's: the prefix that we gave it and numbers. */
function readPictures(content: string): readonly PictureFile[] {
  return [...content.matchAll(/<image top="(-?[\d.]+)" left="(-?[\d.]+)" width="([\d.]+)" height="([\d.]+)" src="(?:\.\/)?([\w-]+\.(?:png|jpg))"\/>/g)].map(([, top, left, width, height, file = '']) => ({
    left: Number(left),
    top: Number(top),
    right: Number(left) + Number(width),
    bottom: Number(top) + Number(height),
    file,
  }));
}

function styleOfFamily(family: string): Omit<Style, 'size' | 'href'> {
  return {
    bold: /bold|black|heavy|CMBX|CMSSBX/i.test(family),
    italic: /italic|oblique|CMTI|CMSL|CMMI/i.test(family),
    mono: /mono|courier|consol|typewriter|CMTT|CMSLTT/i.test(family),
  };
}

function linkOf(text: string | undefined): string | undefined {
  if (text === undefined || text.length > HREF_MAX) return undefined;
  const href = decodeXml(text);
  return URL.canParse(href) && LINKS.has(new URL(href).protocol) ? href : undefined;
}
