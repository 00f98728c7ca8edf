/**
 * One spelling for all JSON texts that mean the same: members in the order of their names, no spaces, every string and
 * number as JavaScript writes it, so that `1.0`, `1e0` and `1` are one number and `\u0061` is `a` (D80). Arrays keep
 * their order, and text is not normalized: two ways to compose an accent are two texts. Takes what `JSON.parse` made,
 * nested no deeper than the reader of bodies allows.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  // JSON.stringify would write a number that is too large for JavaScript as null, which is another value.
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  // By UTF-16 code units, as RFC 8785 does; whatever the order, it must be the same on every machine.
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(',')}}`;
}
