import type { IncomingHttpHeaders } from 'node:http';

/** `application/json`, in any case, with no other charset than UTF-8. */
const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?;?$/i;

/** True when the body is said to be JSON in UTF-8 and not compressed. */
export function isPlainJson(headers: IncomingHttpHeaders): boolean {
  const encoding = headers['content-encoding']?.toLowerCase() ?? 'identity';
  return encoding === 'identity' && JSON_TYPE.test(headers['content-type']?.trim() ?? '');
}
