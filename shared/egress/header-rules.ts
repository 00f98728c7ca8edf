/** Headers that a client may add to a request (§8). */
export const HEADERS_MAX = 10;
/** Longest name and longest value, in characters; servers refuse longer ones. */
const NAME_CHARS_MAX = 256;
const VALUE_CHARS_MAX = 8192;
/** A token of RFC 9110. */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Visible ASCII, with spaces and tabs between. */
const VALUE = /^[\x20-\x7e\t]*$/;
/** Headers that say where the request goes and where it ends. Whoever writes them can smuggle another request. */
const REFUSED: ReadonlySet<string> = new Set(['host', 'content-length', 'transfer-encoding', 'connection', 'upgrade', 'te', 'trailer', 'expect', 'keep-alive']);

/** One header: a list of pairs keeps names such as `__proto__`, which an object would not. */
export type Header = readonly [name: string, value: string];

/** What is wrong with a header; `header` is its name, absent when it is about all of them. */
export type HeaderProblem = { readonly header?: string; readonly message: string };

/** Checks the headers that a client wants sent (§8 URL import rule 2, D83). */
export function findHeaderProblems(headers: Readonly<Record<string, unknown>>): readonly HeaderProblem[] {
  const entries = Object.entries(headers);
  // With too many they are not looked into: a megabyte of them would give as many problems.
  if (entries.length > HEADERS_MAX) return [{ message: `must have at most ${HEADERS_MAX} entries` }];
  const seen = new Set<string>();
  return entries.flatMap(([header, value]) => {
    const message = problemOf(header, value, seen);
    seen.add(header.toLowerCase());
    return message === undefined ? [] : [{ header, message }];
  });
}

function problemOf(name: string, value: unknown, seen: ReadonlySet<string>): string | undefined {
  const lowerCase = name.toLowerCase();
  if (name.length > NAME_CHARS_MAX || !NAME.test(name)) return 'is not the name of a header';
  if (REFUSED.has(lowerCase) || lowerCase.startsWith('proxy-')) return 'is a header that the service sets itself';
  if (seen.has(lowerCase)) return 'is given twice';
  if (typeof value !== 'string') return 'must be a string';
  if (value.length > VALUE_CHARS_MAX) return `must have at most ${VALUE_CHARS_MAX} characters`;
  return VALUE.test(value) ? undefined : 'must be visible ASCII';
}
