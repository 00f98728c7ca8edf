import type { Word } from './model.ts';
import type { Fragment, PlainWord } from './read-xml.ts';

/** Points of a page that one strip of the index covers; a line of text touches one or two. */
const STRIP_POINTS = 16;

/** What a word that no stretch of text covers is taken for; heights of boxes exceed sizes of fonts by about so much. */
const SIZE_PER_HEIGHT = 0.9;

/** Gives each word the style of the stretch of text that it stands in. */
export function styleWords(words: readonly PlainWord[], fragments: readonly Fragment[]): readonly Word[] {
  const strips = new Map<number, Fragment[]>();
  for (const fragment of fragments) {
    const strip = stripOf(middle(fragment));
    const others = strips.get(strip);
    if (others === undefined) strips.set(strip, [fragment]);
    else others.push(fragment);
  }
  return words.map((word) => {
    const strip = stripOf(middle(word));
    const near = [strip - 1, strip, strip + 1].flatMap((index) => strips.get(index) ?? []);
    const found = near.find((fragment) => covers(fragment, word));
    const plain = { size: Math.max(1, (word.bottom - word.top) * SIZE_PER_HEIGHT), bold: false, italic: false, mono: false, href: undefined };
    const { size, bold, italic, mono, href } = found ?? plain;
    return { ...word, size, bold, italic, mono, href };
  });
}

function stripOf(y: number): number {
  return Math.floor(y / STRIP_POINTS);
}

function middle({ top, bottom }: { readonly top: number; readonly bottom: number }): number {
  return (top + bottom) / 2;
}

function covers(fragment: Fragment, word: PlainWord): boolean {
  const [x, y] = [(word.left + word.right) / 2, middle(word)];
  return x >= fragment.left - 1 && x <= fragment.right + 1 && y >= fragment.top - 1 && y <= fragment.bottom + 1;
}
