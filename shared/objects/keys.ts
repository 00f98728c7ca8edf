import { Defect } from '../errors/errors.ts';
import { isId } from '../ids/ids.ts';

/** Names an object in the store. Made of our own ids only; a user's file name is never part of it. */
export type ObjectKey = `source/${string}` | `result/${string}/${number}`;

/** Start of the keys of several objects. */
export type ObjectPrefix = 'source/' | 'result/' | `result/${string}/`;

/** What a key says. */
export type ParsedKey =
  | { readonly kind: 'source'; readonly key: ObjectKey; readonly job_id: string }
  | { readonly kind: 'result'; readonly key: ObjectKey; readonly job_id: string; readonly attempt: number };

/** Attempts have no leading zero, so that every object has one spelling. */
const ATTEMPT = /^[1-9]\d{0,2}$/;

/** The file a client gave to the job. Throws `Defect` on an id that is not ours. */
export function sourceKey(jobId: string): ObjectKey {
  return checkKey(`source/${jobId}`).key;
}

/** What one attempt of the conversion made; each attempt has its own, so a late one cannot spoil the winner's. */
export function resultKey(jobId: string, attempt: number): ObjectKey {
  return checkKey(`result/${jobId}/${attempt}`).key;
}

/** Prefix of the results of all attempts of a job. Throws `Defect` on an id that is not ours. */
export function resultPrefix(jobId: string): ObjectPrefix {
  if (!isId(jobId)) throw new Defect('a job id is not one of our UUIDs');
  return `result/${jobId}/`;
}

/** Parses a key that came from outside; undefined when it is none of ours. */
export function parseKey(text: string): ParsedKey | undefined {
  const [kind, jobId = '', attempt, ...rest] = text.split('/');
  if (!isId(jobId) || rest.length > 0) return undefined;
  if (kind === 'source' && attempt === undefined) return { kind, key: `source/${jobId}`, job_id: jobId };
  if (kind !== 'result' || attempt === undefined || !ATTEMPT.test(attempt)) return undefined;
  return { kind, key: `result/${jobId}/${Number(attempt)}`, job_id: jobId, attempt: Number(attempt) };
}

/** Parses a key of our own making. Throws `Defect` when it is none, before it can become a path. */
export function checkKey(text: string): ParsedKey {
  const parsed = parseKey(text);
  if (!parsed) throw new Defect('an object key is not one of ours');
  return parsed;
}

/** Whether the first complete object of this key stays for ever: true for sources, on which a job may be working (D46). */
export function isWrittenOnce(key: ObjectKey): boolean {
  return checkKey(key).kind === 'source';
}

/** Passes on a prefix of our own making. Throws `Defect` when it is none, before it can become a path. */
export function checkPrefix(prefix: ObjectPrefix): ObjectPrefix {
  if (prefix === 'source/' || prefix === 'result/') return prefix;
  return resultPrefix(prefix.slice('result/'.length, -1));
}
