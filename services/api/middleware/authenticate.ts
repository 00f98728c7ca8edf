import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Middleware } from 'koa';
import type { AccountsCopy, KeyContext } from '../../../shared/accounts/accounts-copy.ts';
import { isWellFormedSecret, secretHash } from '../../../shared/accounts/api-key.ts';
import { isoTime, type Clock } from '../../../shared/clock/clock.ts';
import { TransientError } from '../../../shared/errors/errors.ts';
import { ApiError } from '../errors/api-error.ts';
import type { ApiState } from '../http/context.ts';
import type { AddressFailures } from '../limits/address-failures.ts';

/** Path below which everything but the public routes needs a key (D3). */
const BASE_PATH = '/v1';
/** Longest header that is looked at; a secret has 59 characters. */
const HEADER_CHARS_MAX = 200;

/** What authentication works with. */
export type Authentication = {
  readonly accounts: Pick<AccountsCopy, 'findKey'>;
  readonly clock: Clock;
  /** False while the copy of the keys may be out of date. */
  readonly isCurrent: () => boolean;
  readonly addressOf: (request: IncomingMessage) => string;
  readonly failures: Pick<AddressFailures, 'requireAllowed' | 'add'>;
};

/**
 * Asks who the caller is (§5). Missing, malformed, revoked, expired and unknown keys get one and the same 401, and
 * count against the address they come from; one that has too many of them gets 429 before its key is looked at (D61).
 * When the keys or the count cannot be known for sure the answer is 503, never 401 (D4).
 */
export function authenticate({ accounts, clock, isCurrent, addressOf, failures }: Authentication): Middleware<ApiState> {
  return async (ctx, next) => {
    if (needsKey(ctx.path, ctx.state)) {
      if (!isCurrent()) throw new TransientError('nats', 'the copy of the API keys may be out of date');
      const address = addressOf(ctx.req);
      await failures.requireAllowed(address);
      const key = findKey(ctx.headers, accounts, clock);
      if (!key) {
        await failures.add(address);
        throw unauthorized();
      }
      ctx.state.key = key;
    }
    await next();
  };
}

function needsKey(path: string, { match }: ApiState): boolean {
  if (match.kind === 'route') return match.route.access !== 'public' && match.route.access !== 'link';
  return path === BASE_PATH || path.startsWith(`${BASE_PATH}/`);
}

function findKey(headers: IncomingHttpHeaders, accounts: Authentication['accounts'], clock: Clock): KeyContext | undefined {
  const secret = readSecret(headers);
  return secret !== undefined && isWellFormedSecret(secret) ? accounts.findKey(secretHash(secret), isoTime(clock.nowMs())) : undefined;
}

function unauthorized(): ApiError {
  return ApiError.of(401, 'unauthorized', 'A valid API key is required: Authorization: Bearer <API_KEY>, or X-API-Key: <API_KEY>.', {}, { 'WWW-Authenticate': 'Bearer' });
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
