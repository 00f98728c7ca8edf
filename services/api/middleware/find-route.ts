import type { Middleware } from 'koa';
import { ApiError } from '../errors/api-error.ts';
import type { ApiState } from '../http/context.ts';
import type { RouteMatch } from '../routes/route.ts';

/**
 * Notes which endpoint is meant. Who may know that there is none is decided later: 401 comes before 404 (D3). What
 * Node lets through although it is no valid HTTP gets the envelope here (D51).
 */
export function findRoute(find: (method: string, path: string) => RouteMatch): Middleware<ApiState> {
  return async (ctx, next) => {
    if (ctx.req.httpVersion === '1.1' && ctx.headers.host === undefined) throw badHttp('The request has no Host header.');
    ctx.state.match = find(ctx.method, readPath(ctx));
    await next();
  };
}

/** The getter throws on a target such as `http://[/`. */
function readPath(target: { readonly path: string }): string {
  try {
    return target.path;
  } catch {
    throw badHttp('The target of the request is not a valid URL.');
  }
}

function badHttp(message: string): ApiError {
  return ApiError.of(400, 'validation_failed', message, { reason: 'bad_http' });
}
