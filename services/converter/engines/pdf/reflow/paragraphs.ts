import { around, textOfRuns, type Block, type Box, type ListItem, type Row } from './model.ts';
import { markerOf, type Marker } from './markers.ts';
import { hasLeader, joinRows } from './runs.ts';
import { boldLevel, levelOf, type Sizes } from './sizes.ts';

/** Letters of one paragraph differ by less than this, in points. */
const SAME_SIZE_POINTS = 1;

/** A line begins a paragraph when it is so much further from the line before than lines usually are, in sizes of letters. */
const FURTHER = 0.35;

/** Widest space between lines of a paragraph, in sizes of letters: double spacing. */
const SPACING_MAX = 1.3;

/** A line that begins so much further to the right, in sizes of letters, is indented. */
const INDENT = 0.8;

/** Width of a space, in sizes of letters. */
const SPACE = 0.25;

/** Words of a title that only its bold letters tell from text. */
const BOLD_TITLE_WORDS_MAX = 12;

/** Points by which markers of one level may differ. */
const LEVEL_POINTS = 5;

/** Deepest list that office formats know. */
const LEVELS_MAX = 8;

/** Points by which the middle of a line may be off the middle of its column. */
const CENTER_POINTS = 3;

/** Lines of one paragraph, and what stands before them. */
interface Group {
  readonly rows: Row[];
  readonly marker: Marker | undefined;
}

/** Makes paragraphs, titles and lists of the lines of one column, from top to bottom. */
export function makeParagraphs(rows: readonly Row[], column: Box, sizes: Sizes): readonly Block[] {
  const usual = usualGap(rows);
  const rights = rightsByLeft(rows);
  const groups: Group[] = [];
  for (const row of rows) {
    const group = groups.at(-1);
    if (group !== undefined && continues(group, row, rightOf(group, row, rights, column), usual)) group.rows.push(row);
    else groups.push({ rows: [row], marker: markerOf(row) });
  }
  const blocks: Block[] = [];
  for (let start = 0; start < groups.length; ) {
    const group = groups[start];
    if (group === undefined) break;
    const title = titleOf(group, sizes);
    const items = title === undefined ? groups.slice(start).slice(0, itemsFrom(groups, start, sizes)) : [];
    if (items.length > 0) blocks.push(listOf(items));
    else blocks.push(title ?? paragraphOf(group, column));
    start += Math.max(1, items.length);
  }
  return blocks;
}

/** The gap between two lines of one paragraph, points: the usual one between neighbours of the same size. */
function usualGap(rows: readonly Row[]): number {
  const gaps = rows.slice(1).flatMap((row, index) => {
    const before = rows[index];
    return before !== undefined && Math.abs(before.size - row.size) < SAME_SIZE_POINTS ? [row.top - before.bottom] : [];
  });
  return gaps.toSorted((a, b) => a - b)[Math.floor((gaps.length - 1) / 3)] ?? 0;
}

function continues({ rows, marker }: Group, row: Row, right: number, usual: number): boolean {
  const before = rows.at(-1);
  const first = rows[0];
  if (before === undefined || first === undefined) return false;
  if (Math.abs(before.size - row.size) >= SAME_SIZE_POINTS || row.top - before.bottom > Math.min(usual, SPACING_MAX * row.size) + FURTHER * row.size) return false;
  if (markerOf(row) !== undefined || hasLeader(row) || hasLeader(before) || isBold(before) !== isBold(row)) return false;
  // Listings keep their lines.
  if (isMono(before) && isMono(row)) return false;
  // Had the next word found room in the line before, the author would not have begun a new line for it.
  const word = row.words[0];
  if (word !== undefined && before.right + row.size * SPACE + (word.right - word.left) < right - row.size * SPACE) return false;
  // The lines of an item stand below its text; the second line of a paragraph may stand further left than its first.
  const text = marker === undefined ? first.left : (first.words[marker.words]?.left ?? first.left);
  const expected = rows.length === 1 ? text : before.left;
  if (row.left > expected + INDENT * row.size) return false;
  return rows.length === 1 || row.left >= before.left - INDENT * row.size;
}

/** How far to the right the lines reach that begin at the same place: quotations and listings are narrower than their column. */
function rightsByLeft(rows: readonly Row[]): ReadonlyMap<number, number> {
  const rights = new Map<number, number>();
  for (const { left, right } of rows) for (const near of [-1, 0, 1]) rights.set(Math.round(left) + near, Math.max(rights.get(Math.round(left) + near) ?? 0, right));
  return rights;
}

function rightOf({ rows }: Group, row: Row, rights: ReadonlyMap<number, number>, column: Box): number {
  const lefts = [...rows.slice(-1), row].map(({ left }) => rights.get(Math.round(left)) ?? column.right);
  return Math.max(...lefts);
}

function isMono(row: Row): boolean {
  return row.words.every(({ mono }) => mono);
}

function isBold(row: Row): boolean {
  return row.words.every(({ bold }) => bold);
}

function titleOf({ rows }: Group, sizes: Sizes): Extract<Block, { kind: 'heading' }> | undefined {
  const [first] = rows;
  if (first === undefined) return undefined;
  const words = rows.reduce((sum, row) => sum + row.words.length, 0);
  const runs = joinRows(rows.map((row) => row.words));
  const text = textOfRuns(runs);
  if (!/\p{L}/u.test(text)) return undefined;
  const large = levelOf(sizes, first.size, words);
  const bold = rows.every((row) => isBold(row)) && rows.length <= 2 && words <= BOLD_TITLE_WORDS_MAX && !/[.,;:!?]$/.test(text) && first.size >= sizes.body - SAME_SIZE_POINTS;
  const level = large ?? (bold ? boldLevel(sizes) : undefined);
  return level === undefined ? undefined : { kind: 'heading', level, size: first.size, runs, box: around(rows) };
}

function paragraphOf({ rows }: Group, column: Box): Block {
  const middle = (column.left + column.right) / 2;
  const centered = rows.every((row) => Math.abs((row.left + row.right) / 2 - middle) < CENTER_POINTS && row.left > column.left + row.size);
  return { kind: 'paragraph', size: rows[0]?.size ?? 0, runs: joinRows(rows.map((row) => row.words)), box: around(rows), centered };
}

/** How many groups from `start` on are items of one list. */
function itemsFrom(groups: readonly Group[], start: number, sizes: Sizes): number {
  let end = start;
  while (groups[end]?.marker !== undefined && titleOf(groups[end] ?? { rows: [], marker: undefined }, sizes) === undefined) end += 1;
  return end - start;
}

function listOf(groups: readonly Group[]): Block {
  const rows = groups.flatMap((group) => group.rows);
  const lefts: number[] = [];
  for (const left of groups.flatMap((group) => group.rows[0]?.left ?? []).toSorted((a, b) => a - b)) if (left - (lefts.at(-1) ?? -Infinity) > LEVEL_POINTS) lefts.push(left);
  const items = groups.flatMap(({ rows: [first, ...rest], marker }): ListItem[] => {
    if (first === undefined || marker === undefined) return [];
    const level = lefts.filter((left) => left <= first.left + LEVEL_POINTS).length - 1;
    const runs = joinRows([first.words.slice(marker.words), ...rest.map((row) => row.words)]);
    return [{ level: Math.min(Math.max(0, level), LEVELS_MAX), numbering: marker.numbering, number: marker.number, runs }];
  });
  return { kind: 'list', size: rows[0]?.size ?? 0, items, box: around(rows) };
}
