import { z } from 'zod';
import { attempt, credits, durationMs, engineVersion, etag, format, id, keyMode, sealed, sha256, sizeBytes, time } from './fields.ts';

/** Codes of an error on a job; a subset of §7. */
export const jobErrorCode = z.enum(['internal', 'file_too_large', 'url_import_failed']);
/** `details.reason` of an error on a job (§7). */
const jobErrorReason = z.enum([
  'system_error', 'timeout', 'storage_unavailable',
  'blocked_address', 'not_https', 'invalid_url', 'too_many_redirects', 'http_status', 'network',
]);
/** `details.cause`: what a person can act on (D38). An addition to the contract, so it may grow. */
const jobErrorCause = z.enum([
  'empty_file', 'not_what_it_claims', 'damaged', 'too_many_pixels', 'too_many_frames', 'page_not_found', 'timeout', 'out_of_memory',
  'result_too_large', 'engine_crashed', 'unsupported_feature', 'worker_died', 'source_missing', 'source_damaged',
  'password_required', 'wrong_password', 'cannot_be_unlocked', 'too_many_pages', 'too_many_cells', 'too_long', 'too_much_text', 'sheet_not_found', 'unpacks_too_large', 'no_text', 'no_audio', 'no_video', 'start_after_end',
]);

/** Why a job failed; the text that clients read is made from these where it is shown. */
const jobError = z.object({
  code: jobErrorCode,
  reason: jobErrorReason.optional(),
  cause: jobErrorCause.optional(),
  max_bytes: sizeBytes.optional(),
});

/** Appended when a client's POST /jobs was accepted and its credits are held; after it the job is `waiting`. */
export const jobCreatedV1 = z.object({
  organization_id: id,
  api_key_id: id,
  key_mode: keyMode,
  created_at: time,
  import: z.enum(['upload', 'url']),
  input_format: format,
  output_format: format,
  weight: z.int().min(1).max(100),
  credits_estimated: credits,
  /** HMAC of the tag under a key of the service, so that lists can be filtered without reading the tag (D6). */
  tag_hmac: sha256.optional(),
  /** Until when the single upload URL works (§4.5). */
  upload_url_expires_at: time.optional(),
  /** When the job expires if its file never comes (D40). */
  upload_deadline_at: time,
  /** Provisional `expires_at` until the result is kept (D9). */
  expires_at: time,
  /**
   * When the request carried an Idempotency-Key: which key, and which body (D82). Both are HMACs under keys that follow
   * from the service's master key and the value of the header, so neither can be guessed from here.
   */
  idempotency: z.object({ key_hash: sha256, fingerprint: sha256 }).optional(),
  /** Tag, task names, options and what was ignored of them, under the job's own key. */
  typed: sealed,
  /** URL and headers of an `import/url`, under a key of their own that dies with the fetch (§8 URL import rule 2). */
  fetch: sealed.optional(),
});

/** Appended when a client begins to upload its file in parts; after it the parts can be sent, and the job stays `waiting` (§4.4). */
export const jobMultipartStartedV1 = z.object({ size_bytes: sizeBytes.min(1), part_size: sizeBytes.min(1), parts_expected: z.int().min(1).max(10_000) });

/**
 * Appended when the parts were assembled into the source of the job. After it this is the file that will be converted;
 * the job stays `waiting` until the file was looked at, if need be beyond its upload window.
 */
export const jobMultipartCompletedV1 = z.object({ size_bytes: sizeBytes, etag });

/** Appended when a client discards its unfinished upload in parts; after it another one may be started. */
export const jobMultipartAbortedV1 = z.object({});

/** Appended when the whole source lies in the object store and is what it claims to be; after it the job is `queued`. */
export const jobSourceReceivedV1 = z.object({ size_bytes: sizeBytes, sha256, etag });

/** Appended by the worker that claims the job; after it the job is `processing` and other attempts are fenced. A test job is claimed by the simulation (§5.3). */
export const jobConversionStartedV1 = z.object({ attempt, engine: z.enum(['image', 'pdf', 'office', 'media', 'simulated']), engine_version: engineVersion });

/**
 * Appended by a worker that is told to stop in the middle of a conversion and hands the job back; it stays `processing`
 * until another attempt takes it over. Without this event an attempt that ends without a word counts as a death.
 */
export const jobConversionInterruptedV1 = z.object({ attempt });

/**
 * Appended now and then by the attempt that owns a long conversion, with how far it is; only ever rising within an
 * attempt, which may append some twenty of them. Nothing follows from it.
 */
export const jobConversionProgressedV1 = z.object({ attempt, percent: z.int().min(1).max(99) });

/** Appended when the result is stored; carries everything the charge is computed from (§2.7, D27). */
export const jobFinishedV1 = z.object({
  attempt,
  result: z.object({ size_bytes: sizeBytes, sha256, etag }),
  billable_ms: durationMs,
  speed_factor: z.int().min(1).max(100),
  weight: z.int().min(1).max(100),
  credits_charged: credits,
  expires_at: time,
});

/** Appended when the job cannot succeed; nothing is charged (§3). */
export const jobFailedV1 = z.object({ attempt: attempt.optional(), error: jobError });

/** Appended when a client cancelled a job that was waiting or queued (§3). */
export const jobCancelledV1 = z.object({});

/** Appended when the result's time is over, or when the file was never uploaded (§3). */
export const jobExpiredV1 = z.object({ reason: z.enum(['never_uploaded', 'result_ttl']) });

/**
 * Appended when a client deleted the job: it is gone from every read, and its data key is destroyed (D36). As the first
 * event of a job: its credits were held, it was not created in time, and now never can be.
 */
export const jobDeletedV1 = z.object({ held_credits_released: z.boolean() });
