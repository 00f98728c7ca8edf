import type { IncomingHttpHeaders } from 'node:http';
import type { Middleware } from 'koa';
import type { AccountsCopy, KeyContext } from '../../../shared/accounts/accounts-copy.ts';
import { isWellFormedSecret, secretHash } from '../../../shared/accounts/api-key.ts';
import { isoTime, type Clock } from '../../../shared/clock/clock.ts';
import { TransientError } from '../../../shared/errors/errors.ts';
import { ApiError } from '../errors/api-error.ts';
import type { ApiState } from '../http/context.ts';

/** Path below which everything but the public routes needs a key (D3). */
const BASE_PATH = '/v1';
/** Longest header that is looked at; a secret has 59 characters. */
const HEADER_CHARS_MAX = 200;

/** What authentication works with. `isCurrent` is false while the copy of the keys may be out of date. */
export type Authentication = { readonly accounts: Pick<AccountsCopy, 'findKey'>; readonly clock: Clock; readonly isCurrent: () => boolean };

/**
 * Asks who the caller is (§5). Missing, malformed, revoked, expired and unknown keys get one and the same 401. When
 * the keys cannot be known for sure the answer is 503, never 401 (D4).
 */
export function authenticate(authentication: Authentication): Middleware<ApiState> {
  return async (ctx, next) => {
    if (needsKey(ctx.path, ctx.state)) ctx.state.key = identify(ctx.headers, authentication);
    await next();
  };
}

function needsKey(path: string, { match }: ApiState): boolean {
  if (match.kind === 'route') return match.route.access !== 'public' && match.route.access !== 'link';
  return path === BASE_PATH || path.startsWith(`${BASE_PATH}/`);
}

function identify(headers: IncomingHttpHeaders, { accounts, clock, isCurrent }: Authentication): KeyContext {
  if (!isCurrent()) throw new TransientError('nats', 'the copy of the API keys may be out of date');
  const secret = readSecret(headers);
  const key = secret !== undefined && isWellFormedSecret(secret) ? accounts.findKey(secretHash(secret), isoTime(clock.nowMs())) : undefined;
  if (key) return key;
  throw ApiError.of(401, 'unauthorized', 'A valid API key is required: Authorization: Bearer <API_KEY>, or X-API-Key: <API_KEY>.', {}, { 'WWW-Authenticate': 'Bearer' });
}

/** `Authorization` counts when both headers are sent; the scheme is written in any case (D60, D93). */
function readSecret(headers: IncomingHttpHeaders): string | undefined {
  const { authorization } = headers;
  if (authorization !== undefined) {
    if (authorization.length > HEADER_CHARS_MAX) return undefined;
    return /^bearer +(\S+) *$/i.exec(authorization)?.[1];
  }
  const apiKey = headers['x-api-key'];
  return typeof apiKey === 'string' && apiKey.length <= HEADER_CHARS_MAX ? apiKey : undefined;
}
