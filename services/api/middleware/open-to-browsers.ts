import type { Middleware } from 'koa';
import { FILES_PATH } from '../../../shared/objects/links.ts';
import type { ApiContext, ApiState } from '../http/context.ts';

/** How long a browser may remember the answer to its question, in seconds. */
const PREFLIGHT_MAX_AGE_SECONDS = 600;

/** Links carry their own authorization, so pages of any origin may use them and read the ETag (D63). */
const FILE_HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'ETag, X-Request-Id, Content-Length, Content-Range, Accept-Ranges, Content-Disposition, Retry-After',
  'Cross-Origin-Resource-Policy': 'cross-origin',
};
const FILE_PREFLIGHT = {
  'Access-Control-Allow-Methods': 'GET, HEAD, PUT',
  'Access-Control-Allow-Headers': 'Content-Type, Range, If-Range, If-None-Match',
  'Access-Control-Max-Age': String(PREFLIGHT_MAX_AGE_SECONDS),
};

/** What the interactive reference may see of an answer beyond what a browser shows anyway (D63). */
const API_EXPOSED = 'X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, Idempotent-Replayed, Location, Allow, WWW-Authenticate';
const API_PREFLIGHT = {
  'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, DELETE',
  'Access-Control-Allow-Headers': 'Authorization, X-API-Key, Content-Type, Idempotency-Key',
  'Access-Control-Max-Age': String(PREFLIGHT_MAX_AGE_SECONDS),
};

/**
 * Opens the API to pages of the service's own origin, where the interactive reference lies, and signed links to pages
 * of any (§5.9, D63). Pages of other origins get the same answers without the headers that would let them see them.
 * OPTIONS is answered at once, before anybody is asked who they are (D1).
 */
export function openToBrowsers(publicUrl: string): Middleware<ApiState> {
  const { origin } = new URL(publicUrl);
  return async (ctx, next) => {
    const isFile = ctx.path.startsWith(FILES_PATH);
    const isOpen = isFile || ctx.get('Origin') === origin;
    if (isFile) ctx.set(FILE_HEADERS);
    else {
      // Also where it is not open: a cache must not show one page what was answered to another.
      ctx.vary('Origin');
      if (isOpen) ctx.set({ 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': API_EXPOSED });
    }
    if (ctx.method === 'OPTIONS') answerOptions(ctx, isOpen ? (isFile ? FILE_PREFLIGHT : API_PREFLIGHT) : {});
    else await next();
  };
}

function answerOptions(ctx: ApiContext, preflight: Readonly<Record<string, string>>): void {
  const { match } = ctx.state;
  if (match.kind === 'method') ctx.set('Allow', match.allow.join(', '));
  ctx.set(preflight);
  ctx.status = 204;
}
