import type { Issue } from '../errors/api-error.ts';

/** NUL, and halves of surrogate pairs: no database stores them, and no client means them. */
const UNSTORABLE = /[\0\p{Surrogate}]/u;

/** Text that cannot be stored, in any value or name of a parsed JSON value (nested no deeper than the reader allows). */
export function findBadText(value: unknown, path = ''): Issue | undefined {
  if (typeof value === 'string') return UNSTORABLE.test(value) ? issueAt(path) : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, part] of Object.entries(value)) {
    if (UNSTORABLE.test(key)) return issueAt(path);
    const issue = findBadText(part, path === '' ? key : `${path}.${key}`);
    if (issue) return issue;
  }
  return undefined;
}

function issueAt(path: string): Issue {
  return { path: path === '' ? 'body' : path, message: 'must not contain the character U+0000 or half of a surrogate pair' };
}
