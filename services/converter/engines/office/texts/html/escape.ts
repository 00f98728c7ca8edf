const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Characters that no page may contain, even escaped; tab and line ends are not among them. */
const FORBIDDEN = /[^\P{Cc}\t\n\r]|[\uFFFE\uFFFF]/gu;

/** A text as content of a page, or as the value of a quoted attribute. */
export function escapeText(text: string): string {
  return text.replaceAll(FORBIDDEN, '').replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? '');
}
