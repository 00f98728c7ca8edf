import type { IncomingHttpHeaders } from 'node:http';
import type { Middleware } from 'koa';
import type { ApiState } from '../http/context.ts';

/** A body of a megabyte takes this long on a very slow line, in ms; one that takes longer is held back on purpose. */
const BODY_MS_MAX = 30_000;

/**
 * Gives up a request whose body does not arrive in time, whether or not anybody reads it: it holds a connection. Files
 * take longer; who reads them bounds how long they may stand still.
 */
export function boundBody(limitMs: number = BODY_MS_MAX): Middleware<ApiState> {
  return async (ctx, next) => {
    const { match } = ctx.state;
    const isFile = match.kind === 'route' && match.route.access === 'link' && match.route.method === 'PUT';
    if (!isFile && hasBody(ctx.headers)) {
      const timer = setTimeout(() => ctx.req.complete || ctx.req.destroy(), limitMs);
      ctx.req.once('close', () => clearTimeout(timer));
    }
    await next();
  };
}

function hasBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
