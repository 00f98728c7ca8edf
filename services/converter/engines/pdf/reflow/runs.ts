import type { Row, Run, Word } from './model.ts';

/** A gap narrower than this part of the size of letters is none: a word that changes its font in the middle. */
const GAP_MIN = 0.1;

/** A gap wider than this many sizes of letters was made by a tabulator. */
const TAB_MIN = 2;

/** Fewest dots that lead from a title to its page number. */
const LEADER = /^[.\u00B7\u2026_]+$/;
const LEADER_WORDS_MIN = 4;

/** True for a line with dots that lead to a page number. */
export function hasLeader(row: Row): boolean {
  const dots = row.words.filter(({ text }) => LEADER.test(text));
  return dots.length >= LEADER_WORDS_MIN || dots.some(({ text }) => text.length >= LEADER_WORDS_MIN);
}

/** The text of lines in one stretch, words that were broken at a line's end put together again. */
export function joinRows(rows: readonly (readonly Word[])[]): readonly Run[] {
  const runs: Run[] = [];
  let before: Word | undefined;
  for (const words of rows) {
    let beginsLine = true;
    for (const word of words) {
      if (LEADER.test(word.text) && word.text !== '...' && word.text !== '\u2026' && hasNeighbourDots(words, word)) continue;
      const gap = before === undefined ? '' : beginsLine ? breakBetween(runs, word) : gapBetween(before, word);
      append(runs, gap, word);
      before = word;
      beginsLine = false;
    }
  }
  return runs;
}

function hasNeighbourDots(words: readonly Word[], word: Word): boolean {
  return word.text.length >= LEADER_WORDS_MIN || words.filter(({ text }) => LEADER.test(text)).length >= LEADER_WORDS_MIN;
}

function gapBetween(before: Word, word: Word): string {
  const gap = (word.left - before.right) / Math.max(before.size, word.size);
  if (gap > TAB_MIN) return '\t';
  return gap > GAP_MIN ? ' ' : '';
}

/** What joins two lines: nothing after a hyphen that parts a word, else a space. Removes such a hyphen. */
function breakBetween(runs: Run[], word: Word): string {
  const last = runs.at(-1);
  if (last === undefined) return '';
  const broken = /\p{L}[-\u00AD\u2010]$/u.test(last.text);
  if (!broken) return ' ';
  if (/^\p{Ll}/u.test(word.text)) runs[runs.length - 1] = { ...last, text: last.text.slice(0, -1) };
  return '';
}

function append(runs: Run[], gap: string, word: Word): void {
  const last = runs.at(-1);
  const { bold, italic, mono, href } = word;
  if (last !== undefined && last.bold === bold && last.italic === italic && last.mono === mono && last.href === href) {
    runs[runs.length - 1] = { ...last, text: `${last.text}${gap}${word.text}` };
    return;
  }
  if (last !== undefined && gap !== '') runs[runs.length - 1] = { ...last, text: `${last.text}${gap}` };
  runs.push({ text: word.text, bold, italic, mono, href });
}
