/** Properties that only say how text, tables and pages look. */
const PROPERTY = /^(?:color|background|background-color|font(?:-[a-z]+)*|text-[a-z-]+|letter-spacing|word-spacing|line-height|white-space|direction|vertical-align|margin(?:-[a-z]+)?|padding(?:-[a-z]+)?|border(?:-[a-z-]+)?|width|height|max-width|list-style-type|float|clear|page-break-(?:before|after|inside)|break-(?:before|after|inside)|size|orphans|widows)$/;

/** Words, numbers, colours: nothing that could name a file or an address. */
const VALUE = /^(?![^]*(?:url|image|src|expression|element|attr|var|env|import)\s*\()[\w\s#%.,()'"/!+-]+$/i;

/** Characters of a value; lists of fonts are the longest. */
const VALUE_MAX = 500;

/** Rules are chosen by elements, classes and the like, or are those of the page; other rules with an @ are dropped. */
const SELECTOR = /^(?:@page(?:\s+:?\w+)?|[\w\s.#*,:>+~-]{1,1000})$/;

/** Declarations that may stay, as they stand in a `style` attribute; an empty string when there are none. */
export function cleanDeclarations(text: string): string {
  return text
    .split(';')
    .map((declaration) => splitOnce(declaration, ':'))
    .filter(([property, value]) => value.length <= VALUE_MAX && PROPERTY.test(property) && VALUE.test(value))
    .map(([property, value]) => `${property}: ${value}`)
    .join('; ');
}

/** A style sheet whose rules can fetch nothing. Blocks within blocks lose their outer condition together with their rules. */
export function cleanStyleSheet(text: string): string {
  const rules: string[] = [];
  let depth = 0;
  for (const part of text.replaceAll(/\/\*[^]*?(?:\*\/|$)/g, ' ').split('}')) {
    const opened = part.split('{');
    depth += opened.length - 1;
    const [selector, declarations] = opened;
    if (depth === 1 && opened.length === 2) {
      const cleaned = cleanDeclarations(declarations ?? '');
      const chosen = (selector ?? '').replaceAll('<!--', ' ').replaceAll('-->', ' ').trim();
      if (cleaned !== '' && SELECTOR.test(chosen)) rules.push(`${chosen} { ${cleaned} }`);
    }
    depth = Math.max(0, depth - 1);
  }
  return rules.join('\n');
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at === -1 ? [text.trim(), ''] : [text.slice(0, at).trim().toLowerCase(), text.slice(at + 1).trim()];
}
