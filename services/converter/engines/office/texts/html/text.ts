import { Parser } from 'htmlparser2';
import type { Page } from './page.ts';

/** Elements that begin and end a line. */
const BLOCKS: ReadonlySet<string> = new Set(
  'address article aside blockquote caption center dd div dl dt figcaption figure footer h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table tbody tfoot thead tr ul'.split(' '),
);

/** Elements with an empty line before and after them. */
const APART: ReadonlySet<string> = new Set(['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'pre', 'table', 'ul', 'ol', 'blockquote', 'dl']);

/** Spaces before an item of a list, for each list that it is in. */
const INDENT = '  ';

/** The words of a page as plain text: a line for each paragraph, marks before items, tabs between cells. */
export function pageToText({ body }: Page): string {
  const writer = new TextWriter();
  const parser = new Parser({ onopentag: (name, attributes) => writer.open(name, attributes), onclosetag: (name) => writer.close(name), ontext: (text) => writer.text(text) });
  parser.end(body);
  return writer.finish();
}

interface List {
  /** Number of the next item; undefined where items have no numbers. */
  next: number | undefined;
}

class TextWriter {
  readonly #parts: string[] = [];
  readonly #lists: List[] = [];
  #preformatted = 0;
  #cells = 0;
  /** Line ends that are due before the next word; those before the first are never written. */
  #breaks = 0;
  #space = false;
  /** True in a cell before its first word: it begins where its row is. */
  #cellBegins = false;
  /** What stands before the next word of an item. */
  #mark = '';

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    this.#break(name);
    if (name === 'br') this.#breaks += 1;
    else if (name === 'pre') this.#preformatted += 1;
    else if (name === 'ul') this.#lists.push({ next: undefined });
    else if (name === 'ol') this.#lists.push({ next: Number(attributes['start'] ?? 1) || 1 });
    else if (name === 'tr') this.#cells = 0;
    else if (name === 'td' || name === 'th') this.#startCell();
    else if (name === 'li') this.#startItem();
  }

  close(name: string): void {
    if (name === 'pre') this.#preformatted -= 1;
    else if (name === 'ul' || name === 'ol') this.#lists.pop();
    else if (name === 'td' || name === 'th') this.#endCell();
    this.#break(name);
  }

  text(text: string): void {
    if (this.#preformatted > 0) {
      this.#write(text);
      return;
    }
    const words = text.replaceAll(/[ \t\r\n]+/g, ' ');
    const trimmed = words.trim();
    if (words.startsWith(' ')) this.#space = true;
    if (trimmed === '') return;
    this.#write(this.#space && this.#breaks === 0 && this.#parts.length > 0 && !/\s$/.test(this.#parts.at(-1) ?? '') ? ` ${trimmed}` : trimmed);
    this.#space = words.endsWith(' ');
  }

  finish(): string {
    return `${this.#parts.join('').trimEnd()}\n`;
  }

  #break(name: string): void {
    if (!BLOCKS.has(name) || this.#cellBegins) return;
    const apart = APART.has(name) && this.#lists.length === 0 && this.#cells === 0;
    this.#breaks = Math.max(this.#breaks, apart ? 2 : 1);
    if (name === 'table') this.#cells = 0;
    this.#space = false;
  }

  #startCell(): void {
    if (this.#cells > 0) {
      this.#breaks = 0;
      this.#parts.push('\t');
    }
    this.#cells += 1;
    this.#space = false;
    this.#cellBegins = true;
  }

  #endCell(): void {
    this.#breaks = 0;
    this.#cellBegins = false;
  }

  #startItem(): void {
    const list = this.#lists.at(-1);
    const number = list?.next;
    if (list !== undefined && number !== undefined) list.next = number + 1;
    this.#mark = `${INDENT.repeat(Math.max(0, this.#lists.length - 1))}${number === undefined ? '- ' : `${number}. `}`;
  }

  #write(text: string): void {
    if (this.#parts.length > 0) this.#parts.push('\n'.repeat(this.#breaks));
    this.#breaks = 0;
    this.#cellBegins = false;
    this.#parts.push(this.#mark, text);
    this.#mark = '';
  }
}
