/** XML declaration, processing instructions and comments. */
const PIECE = /^(?:\s+|<\?[^>]*\?>|<!--[^]*?-->)/;

/** As above, and the document type of a drawing. */
const PIECE_OF_SVG = /^(?:\s+|<\?[^>]*\?>|<!--[^]*?-->|<!DOCTYPE\s+(?:[\w.-]+:)?svg\b[^[>]*(?:\[[^\]]*\]\s*)?>)/i;

/** How many pieces may stand before the root element; a bound on the work for a file of nothing but comments. */
const PIECES_MAX = 200;

/** A text without what may stand before its root element. */
export function skipPrologue(text: string, of: 'any' | 'svg'): string {
  const pattern = of === 'svg' ? PIECE_OF_SVG : PIECE;
  let rest = text;
  for (let pieces = 0; pieces < PIECES_MAX; pieces += 1) {
    const piece = pattern.exec(rest)?.[0];
    if (piece === undefined) break;
    rest = rest.slice(piece.length);
  }
  return rest;
}
