import { skipPrologue } from './prologue.ts';

/** Text in UTF-8, with or without byte order mark, whose root element is `svg`; a page with a drawing in it is not. */
export function isSvg(head: Buffer): boolean {
  const text = decodeUtf8(head)?.replace(/^\uFEFF/, '');
  if (text === undefined) return false;
  return /^<(?:[A-Za-z_][\w.-]*:)?svg[\s/>]/.test(skipPrologue(text, 'svg'));
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
