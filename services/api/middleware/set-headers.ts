import type { Middleware } from 'koa';
import type { ApiState } from '../http/context.ts';

/** Puts the same headers on every answer; a route may replace them. */
export function setHeaders(headers: Readonly<Record<string, string>>): Middleware<ApiState> {
  return async (ctx, next) => {
    ctx.set(headers);
    await next();
  };
}
