import { Parser } from 'htmlparser2';
import { EMPTY } from '../html/elements.ts';
import { escapeText } from '../html/escape.ts';

/** A file of a book with a part of its text. */
export interface Chapter {
  /** Its heading; an empty string for what stands before the first. */
  readonly title: string;
  /** Content of its body, well-formed XML. */
  readonly body: string;
}

/** A picture of a book. */
export interface Picture {
  readonly name: string;
  readonly mime: string;
  readonly bytes: Buffer;
}

/** Elements of older pages that books do not know, and what says the same. */
const RENAMED: Readonly<Record<string, string>> = { big: 'span', center: 'div', font: 'span', strike: 's', tt: 'code' };

/** Attributes that books know; those that say how things look stand in `style`. */
const ATTRIBUTES: ReadonlySet<string> = new Set(['id', 'class', 'title', 'lang', 'dir', 'href', 'src', 'alt', 'style', 'colspan', 'rowspan', 'start', 'reversed', 'value', 'scope']);

/** A book has a file for each heading of this level, up to so many files. */
const CHAPTERS_MAX = 2_000;

/** Divides the content of a clean page into chapters at its highest headings, and takes its pictures out. */
export function splitChapters(body: string): { readonly chapters: readonly Chapter[]; readonly pictures: readonly Picture[] } {
  const writer = new ChapterWriter(/<h1[\s>]/.test(body) ? 'h1' : 'h2');
  const parser = new Parser({ onopentag: (name, attributes) => writer.open(name, attributes), onclosetag: (name) => writer.close(name), ontext: (text) => writer.text(text) });
  parser.end(body);
  return writer.finish();
}

class ChapterWriter {
  readonly #heading: string;
  readonly #chapters: Chapter[] = [];
  readonly #pictures = new Map<string, Picture>();
  readonly #ids = new Set<string>();
  /** Elements that are open, as they were written; a new chapter closes them and opens them again. */
  readonly #open: { readonly name: string; readonly start: string }[] = [];
  #parts: string[] = [];
  #title = '';
  #inHeading = false;
  #empty = true;

  constructor(heading: string) {
    this.#heading = heading;
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (name === this.#heading) this.#startChapter();
    const written = RENAMED[name] ?? name;
    const start = `<${written}${this.#attributes(name, attributes)}`;
    if (EMPTY.has(name)) {
      this.#parts.push(`${start}/>`);
      this.#empty = false;
      return;
    }
    this.#parts.push(`${start}>`);
    this.#open.push({ name: written, start: `${start.replace(/ id="[^"]*"/, '')}>` });
  }

  close(name: string): void {
    if (name === this.#heading) this.#inHeading = false;
    if (EMPTY.has(name)) return;
    const last = this.#open.pop();
    if (last !== undefined) this.#parts.push(`</${last.name}>`);
  }

  text(text: string): void {
    this.#parts.push(escapeText(text));
    if (text.trim() !== '') this.#empty = false;
    if (this.#inHeading) this.#title += text;
  }

  finish(): { readonly chapters: readonly Chapter[]; readonly pictures: readonly Picture[] } {
    this.#endChapter();
    return { chapters: this.#chapters, pictures: [...this.#pictures.values()] };
  }

  #startChapter(): void {
    this.#inHeading = true;
    if (this.#empty || this.#chapters.length >= CHAPTERS_MAX) return;
    this.#endChapter();
    this.#parts = this.#open.map(({ start }) => start);
    this.#title = '';
    this.#empty = true;
  }

  #endChapter(): void {
    const ends = this.#open.toReversed().map(({ name }) => `</${name}>`);
    this.#chapters.push({ title: this.#title.replaceAll(/\s+/g, ' ').trim(), body: [...this.#parts, ...ends].join('') });
  }

  #attributes(name: string, attributes: Readonly<Record<string, string>>): string {
    return Object.entries(attributes)
      .filter(([key, value]) => ATTRIBUTES.has(key) && (key !== 'id' || this.#isNew(value)))
      .map(([key, value]) => ` ${key}="${escapeText(key === 'src' ? this.#picture(value) : value)}"`)
      .concat(name === 'img' && attributes['alt'] === undefined ? [' alt=""'] : [])
      .join('');
  }

  /** XML wants identifiers without spaces, and each once in a file. */
  #isNew(id: string): boolean {
    if (!/^[\p{L}_][\p{L}\p{N}_.-]*$/u.test(id) || this.#ids.has(id)) return false;
    this.#ids.add(id);
    return true;
  }

  #picture(address: string): string {
    const known = this.#pictures.get(address);
    if (known) return known.name;
    const [, mime = '', type = '', data = ''] = /^data:(image\/([a-z]+));base64,(.*)$/s.exec(address) ?? [];
    const picture = { name: `pictures/${this.#pictures.size + 1}.${type}`, mime, bytes: Buffer.from(data, 'base64') };
    this.#pictures.set(address, picture);
    return picture.name;
  }
}
