/** Elements that are kept, and the attributes that each may keep besides the common ones. */
const KEPT: Readonly<Record<string, readonly string[]>> = {
  a: ['href', 'name'],
  ...keepPlain('abbr address article aside b big blockquote br caption center cite code dd del dfn div dl dt em figcaption figure footer'),
  col: ['span', 'width'],
  colgroup: ['span', 'width'],
  font: ['color', 'face', 'size'],
  ...keepPlain('h1 h2 h3 h4 h5 h6 header hr i'),
  img: ['src', 'alt', 'width', 'height'],
  ins: [],
  ...keepPlain('kbd'),
  li: ['value'],
  ...keepPlain('main mark nav'),
  ol: ['start', 'type', 'reversed'],
  ...keepPlain('p pre q s samp section small span strike strong sub sup'),
  table: ['border', 'cellpadding', 'cellspacing', 'width'],
  td: ['colspan', 'rowspan', 'width', 'height', 'valign', 'bgcolor'],
  th: ['colspan', 'rowspan', 'width', 'height', 'valign', 'bgcolor', 'scope'],
  tr: ['valign', 'bgcolor'],
  ...keepPlain('tbody tfoot thead time tt u'),
  ul: ['type'],
  ...keepPlain('var wbr'),
};

/** Attributes that every element may keep; their values are checked as those of the others are. */
const COMMON: readonly string[] = ['id', 'class', 'title', 'lang', 'dir', 'align'];

/** Attributes whose value is any text; all others hold a word or a number. */
const FREE_TEXT: ReadonlySet<string> = new Set(['title', 'alt']);

/** A word, a number, a colour or a list of them: nothing that could be an address or a program. */
const SIMPLE = /^[\p{L}\p{N} .,:#%_+-]{0,200}$/u;

/** Characters of a text in an attribute that are kept. */
const FREE_TEXT_MAX = 2_000;

/** Elements that are dropped with all that is in them: programs, players, forms' choices, drawings. */
export const DROPPED: ReadonlySet<string> = new Set(
  'script style template iframe frame frameset noframes noembed object embed applet audio video canvas svg math map select datalist title textarea annotation comment'.split(' '),
);

/** Elements that have no content and no end. */
export const EMPTY: ReadonlySet<string> = new Set(['br', 'col', 'hr', 'img', 'wbr']);

function keepPlain(names: string): Record<string, readonly string[]> {
  return Object.fromEntries(names.split(' ').map((name) => [name, []]));
}

/** True when the element itself is kept; of all others only the content is. */
export function isKept(name: string): boolean {
  return Object.hasOwn(KEPT, name);
}

/** The attributes of an element that may stay as they are; addresses and styles are looked at elsewhere. */
export function keepAttributes(name: string, attributes: Readonly<Record<string, string>>): [string, string][] {
  const kept: [string, string][] = [];
  for (const key of [...COMMON, ...(KEPT[name] ?? [])]) {
    const value = attributes[key];
    if (value === undefined || key === 'href' || key === 'src') continue;
    if (FREE_TEXT.has(key)) kept.push([key, value.slice(0, FREE_TEXT_MAX)]);
    else if (SIMPLE.test(value)) kept.push([key, value]);
  }
  return kept;
}
