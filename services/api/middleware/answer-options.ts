import type { Middleware } from 'koa';
import type { ApiState } from '../http/context.ts';
import { FILES_PATH } from '../../../shared/objects/links.ts';

/** How long a browser may remember the answer to its question, in seconds. */
const PREFLIGHT_MAX_AGE_SECONDS = 600;

/** Links carry their own authorization, so pages of any origin may use them and read the ETag (D63). */
const FILE_CORS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'ETag, X-Request-Id, Content-Length, Content-Range, Accept-Ranges, Content-Disposition, Retry-After',
  'Cross-Origin-Resource-Policy': 'cross-origin',
};

/** Answers OPTIONS at once, before anybody is asked who they are (D1), and opens signed links to browsers. */
export const answerOptions: Middleware<ApiState> = async (ctx, next) => {
  const isFile = ctx.path.startsWith(FILES_PATH);
  if (isFile) ctx.set(FILE_CORS);
  if (ctx.method !== 'OPTIONS') {
    await next();
    return;
  }
  const { match } = ctx.state;
  if (match.kind === 'method') ctx.set('Allow', match.allow.join(', '));
  if (isFile) {
    ctx.set({
      'Access-Control-Allow-Methods': 'GET, HEAD, PUT',
      'Access-Control-Allow-Headers': 'Content-Type, Range, If-Range, If-None-Match',
      'Access-Control-Max-Age': String(PREFLIGHT_MAX_AGE_SECONDS),
    });
  }
  ctx.status = 204;
};
