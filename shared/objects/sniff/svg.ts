/** XML declaration, comments, processing instructions and document type that may stand before the root element. */
const XML_PROLOGUE = /^(?:\s+|<\?[^>]*\?>|<!--[^]*?-->|<!DOCTYPE\s+(?:[\w.-]+:)?svg\b[^[>]*(?:\[[^\]]*\]\s*)?>)/i;

/** How many pieces may stand before the root element; a bound on the work for a file of nothing but comments. */
const PROLOGUE_PIECES_MAX = 200;

/** Text in UTF-8, with or without byte order mark, whose root element is `svg`; a page with a drawing in it is not. */
export function isSvg(head: Buffer): boolean {
  const text = decodeUtf8(head)?.replace(/^\uFEFF/, '');
  if (text === undefined) return false;
  let rest = text;
  for (let pieces = 0; pieces < PROLOGUE_PIECES_MAX; pieces += 1) {
    const piece = XML_PROLOGUE.exec(rest)?.[0];
    if (piece === undefined) break;
    rest = rest.slice(piece.length);
  }
  return /^<(?:[A-Za-z_][\w.-]*:)?svg[\s/>]/.test(rest);
}

/** Undefined when it is not UTF-8 or holds NUL, as binary files do. The last character may be cut. */
function decodeUtf8(head: Buffer): string | undefined {
  if (head.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(head, { stream: true });
  } catch {
    return undefined;
  }
}
