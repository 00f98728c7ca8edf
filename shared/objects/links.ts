import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import type { MasterKey } from '../privacy/master-key.ts';
import { parseKey, type ObjectKey } from './keys.ts';
import type { DownloadTerms, PartSize, UploadTerms } from './object-store.ts';

/** Path below the public URL under which the disk store's files are served. */
export const FILES_PATH = '/files/';

/** Longest query that is looked at; ours have about 300 characters. */
const QUERY_CHARS_MAX = 2048;

/** What comes after the key in the path of a part: its number, without a leading zero. */
const PART_PATH = /^(.*)\/parts\/([1-9]\d{0,4})$/;

/** A link as its holder may use it. */
export type FileLink =
  | ({ readonly operation: 'upload'; readonly key: ObjectKey } & UploadTerms)
  | ({ readonly operation: 'part'; readonly key: ObjectKey; readonly uploadId: string; readonly expiresAtMs: number } & PartSize)
  | ({ readonly operation: 'download'; readonly key: ObjectKey } & DownloadTerms);

/** A request to a link: the raw path below the public URL and the raw query, without its question mark. */
export type LinkRequest = { readonly method: string; readonly path: string; readonly query: string; readonly nowMs: number };

const whole = z.string().regex(/^[1-9]\d{0,14}$/).transform(Number);
const uploadQuery = z.strictObject({ expires: whole, max_bytes: whole, signature: z.string() });
const partQuery = z.strictObject({ expires: whole, size_bytes: whole, upload: z.string(), signature: z.string() });
const downloadQuery = z.strictObject({ expires: whole, content_type: z.string(), disposition: z.string(), signature: z.string() });

/** The key that signs links; whoever has the master key can serve them, so every api process can. */
export function fileLinkKey(masterKey: MasterKey): KeyObject {
  return masterKey.derive('file-links');
}

/** Path and query of a link. The same link gives the same text, so links are derived anew and never stored (D18, D19). */
export function signLink(key: KeyObject, link: FileLink): string {
  const query = new URLSearchParams(parametersOf(link));
  query.set('signature', signatureOf(key, link));
  return `${FILES_PATH}${pathOf(link)}?${query.toString()}`;
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

type Claim = { readonly link: FileLink; readonly signature: string };

function parseClaim({ method, path, query }: LinkRequest): Claim | undefined {
  if (!path.startsWith(FILES_PATH) || query.length > QUERY_CHARS_MAX) return undefined;
  const pairs = [...new URLSearchParams(query)];
  const fields = new Map(pairs);
  if (fields.size !== pairs.length) return undefined;
  const [, partOf, partNumber] = PART_PATH.exec(path) ?? [];
  const key = parseKey((partOf ?? path).slice(FILES_PATH.length))?.key;
  if (!key) return undefined;
  if (partNumber !== undefined) return method === 'PUT' ? parsePart(key, Number(partNumber), fields) : undefined;
  if (method === 'PUT') return parseUpload(key, fields);
  return method === 'GET' || method === 'HEAD' ? parseDownload(key, fields) : undefined;
}

function parseUpload(key: ObjectKey, fields: ReadonlyMap<string, string>): Claim | undefined {
  const { data } = uploadQuery.safeParse(Object.fromEntries(fields));
  return data && { link: { operation: 'upload', key, expiresAtMs: data.expires, maxBytes: data.max_bytes }, signature: data.signature };
}

function parsePart(key: ObjectKey, partNumber: number, fields: ReadonlyMap<string, string>): Claim | undefined {
  const { data } = partQuery.safeParse(Object.fromEntries(fields));
  return data && { link: { operation: 'part', key, uploadId: data.upload, partNumber, sizeBytes: data.size_bytes, expiresAtMs: data.expires }, signature: data.signature };
}

function parseDownload(key: ObjectKey, fields: ReadonlyMap<string, string>): Claim | undefined {
  const { data } = downloadQuery.safeParse(Object.fromEntries(fields));
  return data && { link: { operation: 'download', key, expiresAtMs: data.expires, contentType: data.content_type, disposition: data.disposition }, signature: data.signature };
}

/** Path of a link below `FILES_PATH`. */
function pathOf(link: FileLink): string {
  return link.operation === 'part' ? `${link.key}/parts/${link.partNumber}` : link.key;
}

function parametersOf(link: FileLink): Record<string, string> {
  const expires = String(link.expiresAtMs);
  switch (link.operation) {
    case 'upload':
      return { expires, max_bytes: String(link.maxBytes) };
    case 'part':
      return { expires, size_bytes: String(link.sizeBytes), upload: link.uploadId };
    case 'download':
      return { expires, content_type: link.contentType, disposition: link.disposition };
    default:
      return link satisfies never;
  }
}

/** A JSON array separates the signed parts, so that no text can be moved from one into the next. */
function signatureOf(key: KeyObject, link: FileLink): string {
  const method = link.operation === 'download' ? 'GET' : 'PUT';
  const signed = JSON.stringify([method, pathOf(link), ...Object.entries(parametersOf(link))]);
  return createHmac('sha256', key).update(signed).digest('base64url');
}
