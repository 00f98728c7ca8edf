import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import type { MasterKey } from '../privacy/master-key.ts';
import { parseKey, type ObjectKey } from './keys.ts';
import type { DownloadTerms, UploadTerms } from './object-store.ts';

/** Path below the public URL under which the disk store's files are served. */
export const FILES_PATH = '/files/';

/** Longest query that is looked at; ours have about 300 characters. */
const QUERY_CHARS_MAX = 2048;

/** A link as its holder may use it. */
export type FileLink =
  | ({ readonly operation: 'upload'; readonly key: ObjectKey } & UploadTerms)
  | ({ readonly operation: 'download'; readonly key: ObjectKey } & DownloadTerms);

/** A request to a link: the raw path below the public URL and the raw query, without its question mark. */
export type LinkRequest = { readonly method: string; readonly path: string; readonly query: string; readonly nowMs: number };

const whole = z.string().regex(/^[1-9]\d{0,14}$/).transform(Number);
const uploadQuery = z.strictObject({ expires: whole, max_bytes: whole, signature: z.string() });
const downloadQuery = z.strictObject({ expires: whole, content_type: z.string(), disposition: z.string(), signature: z.string() });

/** The key that signs links; whoever has the master key can serve them, so every api process can. */
export function fileLinkKey(masterKey: MasterKey): KeyObject {
  return masterKey.derive('file-links');
}

/** Path and query of a link. The same link gives the same text, so links are derived anew and never stored (D18, D19). */
export function signLink(key: KeyObject, link: FileLink): string {
  const query = new URLSearchParams(parametersOf(link));
  query.set('signature', signatureOf(key, link));
  return `${FILES_PATH}${link.key}?${query.toString()}`;
}

/**
 * What the link in a request allows. `forged` when any of method, path, expiry or another parameter is not as signed,
 * `expired` when it was ours once. HEAD may be asked wherever GET may.
 */
export function verifyLink(key: KeyObject, request: LinkRequest): FileLink | 'forged' | 'expired' {
  const claim = parseClaim(request);
  if (!claim) return 'forged';
  const expected = Buffer.from(signatureOf(key, claim.link));
  const given = Buffer.from(claim.signature);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return 'forged';
  return request.nowMs < claim.link.expiresAtMs ? claim.link : 'expired';
}

function parseClaim(request: LinkRequest): { link: FileLink; signature: string } | undefined {
  const { method, path, query } = request;
  const key = path.startsWith(FILES_PATH) ? parseKey(path.slice(FILES_PATH.length))?.key : undefined;
  if (!key || query.length > QUERY_CHARS_MAX) return undefined;
  const pairs = [...new URLSearchParams(query)];
  const fields = new Map(pairs);
  if (fields.size !== pairs.length) return undefined;
  if (method === 'PUT') {
    const parsed = uploadQuery.safeParse(Object.fromEntries(fields));
    if (!parsed.success) return undefined;
    const { expires, max_bytes, signature } = parsed.data;
    return { link: { operation: 'upload', key, expiresAtMs: expires, maxBytes: max_bytes }, signature };
  }
  if (method !== 'GET' && method !== 'HEAD') return undefined;
  const parsed = downloadQuery.safeParse(Object.fromEntries(fields));
  if (!parsed.success) return undefined;
  const { expires, content_type, disposition, signature } = parsed.data;
  return { link: { operation: 'download', key, expiresAtMs: expires, contentType: content_type, disposition }, signature };
}

function parametersOf(link: FileLink): Record<string, string> {
  const expires = String(link.expiresAtMs);
  return link.operation === 'upload'
    ? { expires, max_bytes: String(link.maxBytes) }
    : { expires, content_type: link.contentType, disposition: link.disposition };
}

/** A JSON array separates the signed parts, so that no text can be moved from one into the next. */
function signatureOf(key: KeyObject, link: FileLink): string {
  const method = link.operation === 'upload' ? 'PUT' : 'GET';
  const signed = JSON.stringify([method, link.key, ...Object.entries(parametersOf(link))]);
  return createHmac('sha256', key).update(signed).digest('base64url');
}
