import { around, type Row, type Word } from './model.ts';

/** Part of a line's height by which the middle of a word may be off: superscripts stay on their line, the next line does not. */
const OFF_MAX = 0.3;

/** Groups words to lines, from top to bottom, each from left to right. */
export function groupRows(words: readonly Word[]): readonly Row[] {
  const groups: { words: Word[]; top: number; bottom: number }[] = [];
  for (const word of words.toSorted((a, b) => a.top + a.bottom - b.top - b.bottom)) {
    const last = groups.at(-1);
    if (last !== undefined && sameLine(last, word)) {
      last.words.push(word);
      // The largest word rules, so that a chain of small shifts never joins two lines.
      if (word.bottom - word.top > last.bottom - last.top) [last.top, last.bottom] = [word.top, word.bottom];
    } else groups.push({ words: [word], top: word.top, bottom: word.bottom });
  }
  return groups.map(({ words: group }) => rowOf(group));
}

/** One line of words in any order. */
export function rowOf(words: readonly Word[]): Row {
  return { ...around(words), words: words.toSorted((a, b) => a.left - b.left), size: sizeOfMost(words) };
}

/** The pieces of a line between gaps that are wider than `gap` times the size of its letters. */
export function splitRow(row: Row, gap: number): readonly Row[] {
  const pieces: Word[][] = [];
  for (const word of row.words) {
    const last = pieces.at(-1);
    const before = last?.at(-1);
    if (last === undefined || before === undefined || word.left - before.right > gap * row.size) pieces.push([word]);
    else last.push(word);
  }
  return pieces.map((piece) => rowOf(piece));
}

/** The size that most letters have, points; 0 where there are none. */
export function sizeOfMost(words: readonly Word[]): number {
  const letters = new Map<number, number>();
  for (const { size, text } of words) letters.set(size, (letters.get(size) ?? 0) + text.length);
  return [...letters].toSorted((a, b) => b[1] - a[1])[0]?.[0] ?? 0;
}

function sameLine(line: { top: number; bottom: number }, word: Word): boolean {
  const height = Math.max(line.bottom - line.top, word.bottom - word.top);
  return Math.abs((line.top + line.bottom) / 2 - (word.top + word.bottom) / 2) <= height * OFF_MAX;
}
