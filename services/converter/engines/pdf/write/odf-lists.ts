import type { ListItem, Numbering } from '../reflow/model.ts';
import { odfRuns } from './odf.ts';
import type { StyleBook } from './style-book.ts';
import { points } from './xml.ts';

/** Levels that a list style describes; ODF knows ten. */
const LEVELS = 10;

/** How far a level is indented, points. */
const INDENT_POINTS = 18;

const NUMBERINGS: readonly Numbering[] = ['bullet', '1', 'a', 'A', 'i', 'I'];

/** The list style of each way to mark items. */
export function listStyles(): string {
  return NUMBERINGS.map((numbering) => {
    const levels = Array.from({ length: LEVELS }, (_, index) => levelStyle(numbering, index + 1)).join('');
    return `<text:list-style style:name="${styleName(numbering)}">${levels}</text:list-style>`;
  }).join('\n');
}

function styleName(numbering: Numbering): string {
  // Names of styles are compared without regard to case.
  return `List_${NUMBERINGS.indexOf(numbering)}`;
}

function levelStyle(numbering: Numbering, level: number): string {
  const label = `<style:list-level-properties text:list-level-position-and-space-mode="label-alignment"><style:list-level-label-alignment text:label-followed-by="listtab" fo:text-indent="-${points(INDENT_POINTS)}" fo:margin-left="${points(INDENT_POINTS * level)}"/></style:list-level-properties>`;
  if (numbering === 'bullet') return `<text:list-level-style-bullet text:level="${level}" text:bullet-char="\u2022">${label}</text:list-level-style-bullet>`;
  return `<text:list-level-style-number text:level="${level}" style:num-format="${numbering}" style:num-suffix=".">${label}</text:list-level-style-number>`;
}

/** Items as nested lists: an item that is further in belongs to the one before it. */
export function odfList(items: readonly ListItem[], styles: StyleBook, paragraphStyle: string): string {
  let xml = '';
  for (let start = 0; start < items.length; ) {
    const first = items[start];
    if (first === undefined) break;
    let end = start + 1;
    while (end < items.length && belongs(first, items[end])) end += 1;
    xml += `<text:list text:style-name="${styleName(first.numbering)}">${odfItems(items.slice(start, end), first.level, styles, paragraphStyle)}</text:list>`;
    start = end;
  }
  return xml;
}

function belongs(first: ListItem, item: ListItem | undefined): boolean {
  return item !== undefined && (item.level > first.level || (item.level === first.level && item.numbering === first.numbering));
}

function odfItems(items: readonly ListItem[], level: number, styles: StyleBook, paragraphStyle: string): string {
  let xml = '';
  let expected = 1;
  for (let start = 0; start < items.length; ) {
    const item = items[start];
    if (item === undefined) break;
    let end = start + 1;
    while (end < items.length && (items[end]?.level ?? 0) > level) end += 1;
    const value = item.numbering !== 'bullet' && item.number !== expected ? ` text:start-value="${item.number}"` : '';
    expected = item.number + 1;
    const inner = items.slice(start + 1, end);
    xml += `<text:list-item${value}><text:p text:style-name="${paragraphStyle}">${odfRuns(item.runs, styles)}</text:p>${inner.length > 0 ? odfList(inner, styles, paragraphStyle) : ''}</text:list-item>`;
    start = end;
  }
  return xml;
}
