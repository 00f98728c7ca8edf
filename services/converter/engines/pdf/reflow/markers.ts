import type { Numbering, Row } from './model.ts';

/** What stands before an item of a list. */
export interface Marker {
  readonly numbering: Numbering;
  readonly number: number;
  /** Words of the line that belong to the marker. */
  readonly words: number;
}

/** Bullets of all the usual fonts; symbol fonts have theirs in the private area. */
const BULLET = /^[\u2022\u2023\u2043\u2219\u25A0-\u25FF\u2713\u2714\u27A2\u27A4\u00B7\u2013\u2014\uF000-\uF0FF*o-]$/u;

/** `1.`, `a)`, `(iv)` and the like. */
const NUMBER = /^\(?(\d{1,3}|[a-z]|[A-Z]|[ivx]{2,5}|[IVX]{2,5})[.)]$/;

const ROMAN: Readonly<Record<string, number>> = { i: 1, v: 5, x: 10 };

/** What marks a line as the first of a list's item; undefined for other lines. */
export function markerOf({ words, size }: Row): Marker | undefined {
  const [first, second] = words;
  if (first === undefined || second === undefined) return undefined;
  if (BULLET.test(first.text)) {
    // A dash or a letter is a bullet only with space behind it.
    const apart = second.left - first.right > size * 0.2;
    return apart ? { numbering: 'bullet', number: 1, words: 1 } : undefined;
  }
  const text = NUMBER.exec(first.text)?.[1];
  if (text === undefined) return undefined;
  if (/^\d/.test(text)) return { numbering: '1', number: Number(text), words: 1 };
  const lower = text.toLowerCase();
  const capital = lower !== text;
  if (lower.length > 1) return { numbering: capital ? 'I' : 'i', number: romanValue(lower), words: 1 };
  // A capital letter with a full stop is more often part of a name.
  if (capital && first.text.endsWith('.')) return undefined;
  return { numbering: capital ? 'A' : 'a', number: lower.charCodeAt(0) - 96, words: 1 };
}

function romanValue(text: string): number {
  return text.split('').reduce<number>((sum, letter, index) => {
    const value = ROMAN[letter] ?? 0;
    return sum + (value < (ROMAN[text[index + 1] ?? ''] ?? 0) ? -value : value);
  }, 0);
}
