import { ApiError } from '../errors/api-error.ts';
import { secondsUntil } from './minute.ts';

const MESSAGES = {
  key_rate_limited: 'This key has used up its requests of this minute.',
  ip_throttled: 'Too many requests from this address came without a valid key.',
} as const;

/** 429 that ends with the minute, at `resetSeconds` of Unix time (§8 rate limits 3 and 5). */
export function limitError(reason: keyof typeof MESSAGES, limit: number, resetSeconds: number, nowMs: number): ApiError {
  const details = { reason, limit, reset: resetSeconds };
  return ApiError.of(429, 'rate_limited', MESSAGES[reason], details, { 'Retry-After': String(secondsUntil(resetSeconds, nowMs)) });
}

/**
 * 429 for a budget that is used up, whose headers say so themselves: also where the request was within it, because it
 * asked to be refused (D65).
 */
export function usedUp(limit: number, resetSeconds: number, nowMs: number): ApiError {
  const { message, details, headers } = limitError('key_rate_limited', limit, resetSeconds, nowMs);
  return ApiError.of(429, 'rate_limited', message, details, { ...headers, 'X-RateLimit-Remaining': '0' });
}
