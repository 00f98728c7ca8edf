import { z } from 'zod';

/**
 * The only kinds of field an event may have. Anything a client typed goes into a sealed field, because the log can
 * never be edited: a string that is none of these fails the build (D88).
 */
export const id = z.uuid().meta({ kind: 'id' });
/** ISO 8601, UTC, milliseconds. */
export const time = z.iso.datetime({ precision: 3 }).meta({ kind: 'time' });
/** Lower-case hex SHA-256. */
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/).meta({ kind: 'sha256' });
/** Entity tag of a stored object as the object store names it: MD5 in hex, `-<parts>` after a multipart upload. */
export const etag = z.string().regex(/^[0-9a-f]{32}(-\d{1,5})?$/).meta({ kind: 'etag' });
/** AES-256-GCM ciphertext, base64url, `v1.<nonce>.<ciphertext and tag>`; what a client typed (D88). */
export const sealed = z.string().regex(/^v1\.[\w-]+\.[\w-]+$/).meta({ kind: 'sealed' });
/** Dotted version number of an engine. */
export const engineVersion = z.string().regex(/^\d{1,6}(\.\d{1,6}){0,3}$/).meta({ kind: 'version' });
/** Normalized format name; the catalogue is data that grows, so the shape is fixed here and not the set. */
export const format = z.string().regex(/^[a-z0-9]{1,10}$/).meta({ kind: 'format' });
/** Whole credits. */
export const credits = z.int().min(0).max(1_000_000_000);
/** Size of a stored object. */
export const sizeBytes = z.int().min(0).max(2 ** 40);
/** Duration in milliseconds. */
export const durationMs = z.int().min(0).max(2 ** 40);
/** Attempt of a conversion, from 1. */
export const attempt = z.int().min(1).max(100);
/** Whether the job was made with a live or a test key (§5). */
export const keyMode = z.enum(['live', 'test']);
/** Events that webhook endpoints can subscribe to (§6). */
export const webhookEvent = z.enum(['job.created', 'job.finished', 'job.failed', 'job.cancelled']);
/** Last position of `JOBS` when something was decided. */
export const jobsPosition = z.int().min(0);
/** Scopes of an API key (§5). */
export const scope = z.enum(['job.read', 'job.write', 'webhook.read', 'webhook.write']);
/** Plan of an organization; decides rate limits and the active-job cap (§8). */
export const plan = z.enum(['free', 'active']);
