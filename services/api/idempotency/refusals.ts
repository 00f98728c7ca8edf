import { ApiError } from '../errors/api-error.ts';

/** When a client should ask again whose first request still runs, in seconds (§7, D77). */
const RETRY_AFTER_SECONDS = 1;

/** 409: the first request with this key has not ended, whatever the body of this one is (§8 Idempotency 3, D80). */
export function stillRunning(): ApiError {
  const headers = { 'Retry-After': String(RETRY_AFTER_SECONDS) };
  return ApiError.of(409, 'idempotency_conflict', 'The first request with this Idempotency-Key is still running. Ask again shortly.', { retry_after: RETRY_AFTER_SECONDS }, headers);
}

/** 422: the key belongs to another request (§8 Idempotency 2). */
export function differentBody(): ApiError {
  return ApiError.of(422, 'idempotency_conflict', 'This Idempotency-Key was used with a different body. Use a new key for a new job.');
}
