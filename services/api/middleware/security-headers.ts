import type { Middleware } from 'koa';
import type { ApiState } from '../http/context.ts';

/** Nothing may be loaded or framed by an answer of the API: it is data. */
const CONTENT_SECURITY_POLICY = "default-src 'none'; frame-ancestors 'none'";

/** Headers of every answer: types are not guessed, nothing is stored on the way, nothing is run or framed. */
export const setSecurityHeaders: Middleware<ApiState> = async (ctx, next) => {
  ctx.set({
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
    'Content-Security-Policy': CONTENT_SECURITY_POLICY,
    'Referrer-Policy': 'no-referrer',
  });
  await next();
};
