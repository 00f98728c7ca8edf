/** A rectangle on a page, in points from its upper left corner. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** How letters look. */
export interface Style {
  /** Size of the font in points. */
  readonly size: number;
  readonly bold: boolean;
  readonly italic: boolean;
  /** Whether all letters are equally wide, as in listings. */
  readonly mono: boolean;
  /** Where a click leads; only http, https and mailto. */
  readonly href: string | undefined;
}

/** One word where it stands on its page. */
export interface Word extends Box, Style {
  readonly text: string;
}

/** A picture where it stands on its page. */
export interface Picture extends Box {
  readonly mime: 'image/png' | 'image/jpeg';
  readonly bytes: Buffer;
}

/** What was read of one page, before anybody knows what belongs together. */
export interface PageContent {
  readonly width: number;
  readonly height: number;
  readonly words: readonly Word[];
  readonly pictures: readonly Picture[];
}

/** Words on one line, from left to right. */
export interface Row extends Box {
  readonly words: readonly Word[];
  /** Size that most of its letters have, points. */
  readonly size: number;
}

/** A piece of text in one style. */
export type Run = Omit<Style, 'size'> & { readonly text: string };

/** How items of a list are marked. */
export type Numbering = 'bullet' | '1' | 'a' | 'A' | 'i' | 'I';

/** One item of a list; `level` counts from 0. */
export interface ListItem {
  readonly level: number;
  readonly numbering: Numbering;
  /** The number that it has in the document; 1 for a bullet. */
  readonly number: number;
  readonly runs: readonly Run[];
}

/** A part of a page that a person would move as a whole. */
export type Block =
  | { readonly kind: 'heading'; readonly level: number; readonly size: number; readonly runs: readonly Run[]; readonly box: Box }
  | { readonly kind: 'paragraph'; readonly size: number; readonly runs: readonly Run[]; readonly box: Box; readonly centered: boolean }
  | { readonly kind: 'list'; readonly size: number; readonly items: readonly ListItem[]; readonly box: Box }
  | { readonly kind: 'table'; readonly size: number; readonly rows: readonly (readonly (readonly Run[])[])[]; readonly box: Box; readonly widths: readonly number[] }
  | { readonly kind: 'picture'; readonly picture: Picture; readonly box: Box };

/** A page as blocks, in the order in which people read them. */
export interface FlowPage {
  readonly width: number;
  readonly height: number;
  readonly blocks: readonly Block[];
}

/** A document that can be written in any office format. */
export interface Flow {
  readonly pages: readonly FlowPage[];
  /** Size of most of its letters, points. */
  readonly bodySize: number;
  /** The line that stood at the top, or the bottom, of most pages; `#` stands for the number of the page. */
  readonly header: string | undefined;
  readonly footer: string | undefined;
}

/** The smallest rectangle around others, of which there is at least one. */
export function around(boxes: readonly Box[]): Box {
  return boxes.reduce((all, box) => ({
    left: Math.min(all.left, box.left),
    top: Math.min(all.top, box.top),
    right: Math.max(all.right, box.right),
    bottom: Math.max(all.bottom, box.bottom),
  }), { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity });
}

/** The text of runs without their styles. */
export function textOfRuns(runs: readonly Run[]): string {
  return runs.map(({ text }) => text).join('');
}
