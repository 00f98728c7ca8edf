import { Parser } from 'htmlparser2';
import { EngineFailure } from '../../../failure.ts';
import { DROPPED, EMPTY, isKept, keepAttributes } from './elements.ts';
import { escapeText } from './escape.ts';
import type { Page } from './page.ts';
import { cleanDataAddress } from './pictures.ts';
import { cleanDeclarations, cleanStyleSheet } from './styles.ts';

/** Levels of elements that are kept; the content of deeper ones stays, without them. Readers of pages recurse. */
const DEPTH_KEPT_MAX = 100;

/** Levels of elements in the source; more are no page but an attack on whoever has to remember them. */
const DEPTH_MAX = 10_000;

/** Characters of a page with its pictures. */
export const PAGE_CHARACTERS_MAX = 64 * 1024 * 1024;

/** Where a link may lead: out, or to another place of the same page. Relative ones would tell where our file lay. */
const LINK = /^(?:https?:\/\/|mailto:|tel:|#)[^\s<>"\\]{0,2000}$/i;

/** How a page is to be read. */
export interface Reading {
  /** An element may end where it begins, `<a id="x"/>`, as in books and XHTML. */
  readonly xml: boolean;
  /** False: pictures are left out. */
  readonly pictures: boolean;
  /** The data address of what a relative address means, in a book; undefined when there is no such picture. */
  readonly resolve?: (address: string) => string | undefined;
  /** Where a link leads inside the result, in a book; undefined when nowhere. */
  readonly relink?: (address: string) => string | undefined;
}

/**
 * Reads a page and writes it anew out of known elements and harmless attributes, all text escaped. What comes out fetches
 * nothing, runs nothing and is well-formed, whatever came in; the time it takes grows with the length alone.
 * @throws EngineFailure `damaged` when elements are nested without end, `unpacks_too_large`.
 */
export function cleanPage(source: string, reading: Reading): Page {
  const page = new PageWriter(reading);
  const parser = new Parser(
    {
      onopentag: (name, attributes) => page.open(localName(name), attributes),
      onclosetag: (name) => page.close(localName(name)),
      ontext: (text) => page.text(text),
    },
    // Not as XML, even where it is: books are full of entities that only pages have.
    { recognizeCDATA: true, recognizeSelfClosing: reading.xml },
  );
  parser.end(source);
  return page.finish();
}

/** XHTML may put a prefix before every name. */
function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1).toLowerCase();
}

/** Writes down what a parser tells. */
class PageWriter {
  readonly #reading: Reading;
  readonly #body: string[] = [];
  readonly #styles: string[] = [];
  /** For each open element whether its end is to be written. */
  readonly #open: boolean[] = [];
  #kept = 0;
  #characters = 0;
  /** Level of the dropped element that we are in, 0 outside. */
  #droppedAt = 0;
  #captured: 'title' | 'style' | undefined;
  #title = '';
  #style = '';
  #language = '';

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (this.#open.length >= DEPTH_MAX) throw new EngineFailure('damaged');
    if (name === 'html') this.#language = attributes['lang'] ?? attributes['xml:lang'] ?? '';
    if (this.#droppedAt === 0) this.#capture(name);
    const drops = DROPPED.has(name);
    // A cover of a book is often a picture within a drawing.
    if (name === 'image') this.#picture(attributes['xlink:href'] ?? attributes['href'] ?? '', attributes, '');
    const writes = this.#droppedAt === 0 && !drops && isKept(name) && this.#kept < DEPTH_KEPT_MAX && this.#start(name, attributes);
    this.#open.push(writes);
    if (writes) this.#kept += 1;
    if (drops && this.#droppedAt === 0) this.#droppedAt = this.#open.length;
  }

  close(name: string): void {
    if (this.#open.length === this.#droppedAt) this.#droppedAt = 0;
    if (this.#captured === name) this.#release();
    if (this.#open.pop() !== true) return;
    this.#kept -= 1;
    if (!EMPTY.has(name)) this.#write(`</${name}>`);
  }

  text(text: string): void {
    if (this.#captured === 'title') this.#title += text;
    else if (this.#captured === 'style') this.#style += text;
    else if (this.#droppedAt === 0) this.#write(escapeText(text));
  }

  finish(): Page {
    this.#release();
    return { title: this.#title.replaceAll(/\s+/g, ' ').trim(), language: this.#language, styles: this.#styles.join('\n'), body: this.#body.join('') };
  }

  #capture(name: string): void {
    if (name === 'style') this.#captured = 'style';
    else if (name === 'title' && this.#title === '') this.#captured = 'title';
  }

  #release(): void {
    if (this.#captured === 'style') this.#styles.push(cleanStyleSheet(this.#style));
    this.#style = '';
    this.#captured = undefined;
  }

  /** Returns whether an end tag is due. */
  #start(name: string, attributes: Readonly<Record<string, string>>): boolean {
    if (name === 'img') {
      this.#picture(attributes['src'] ?? '', attributes, attributes['alt'] ?? '');
      return false;
    }
    const kept = keepAttributes(name, attributes);
    const link = name === 'a' ? this.#link(attributes['href']) : undefined;
    if (link !== undefined) kept.push(['href', link]);
    this.#write(`<${name}${attributesText(kept, attributes['style'])}>`);
    return true;
  }

  #link(address = ''): string | undefined {
    const trimmed = address.trim();
    const target = LINK.test(trimmed) ? trimmed : this.#reading.relink?.(trimmed);
    return target !== undefined && LINK.test(target) ? target : undefined;
  }

  /** A picture that we do not have is replaced by what its author says of it. */
  #picture(address: string, attributes: Readonly<Record<string, string>>, alt: string): void {
    const source = this.#reading.pictures ? (cleanDataAddress(address) ?? this.#reading.resolve?.(address)) : undefined;
    if (source === undefined) this.#write(escapeText(alt));
    else this.#write(`<img src="${source}"${attributesText(keepAttributes('img', attributes), attributes['style'])}>`);
  }

  #write(text: string): void {
    this.#characters += text.length;
    if (this.#characters > PAGE_CHARACTERS_MAX) throw new EngineFailure('unpacks_too_large');
    this.#body.push(text);
  }
}

function attributesText(kept: readonly (readonly [string, string])[], style: string | undefined): string {
  const cleaned = style === undefined ? '' : cleanDeclarations(style);
  const all = cleaned === '' ? kept : [...kept, ['style', cleaned] as const];
  return all.map(([name, value]) => ` ${name}="${escapeText(value)}"`).join('');
}
