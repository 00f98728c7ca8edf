import type { PageContent, Word } from '../../services/converter/engines/pdf/reflow/model.ts';

/** Average width of a letter, in sizes of letters. */
const LETTER = 0.5;

/** How a line of words is laid out. */
export interface LineStyle {
  readonly size?: number;
  readonly bold?: boolean;
  readonly mono?: boolean;
}

/** Words of a line that begins at `left` and `top`, in points, as a printer would set them. */
export function line(text: string, left: number, top: number, { size = 10, bold = false, mono = false }: LineStyle = {}): Word[] {
  let x = left;
  return text.split(' ').map((word) => {
    const right = x + word.length * size * LETTER;
    const box = { left: x, top, right, bottom: top + size * 1.2 };
    x = right + size * 0.25;
    return { ...box, text: word, size, bold, italic: false, mono, href: undefined };
  });
}

/** Lines below each other, one in `pitch` points. */
export function lines(texts: readonly string[], left: number, top: number, style: LineStyle = {}, pitch = (style.size ?? 10) * 1.3): Word[] {
  return texts.flatMap((text, index) => line(text, left, top + index * pitch, style));
}

/** An A4 page of words. */
export function page(...words: readonly (readonly Word[])[]): PageContent {
  return { width: 595, height: 842, words: words.flat(), pictures: [] };
}
