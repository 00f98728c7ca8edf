import type { Middleware } from 'koa';
import type { ApiState } from '../http/context.ts';
import type { RouteMatch } from '../routes/route.ts';

/** Notes which endpoint is meant. Who may know that there is none is decided later: 401 comes before 404 (D3). */
export function findRoute(find: (method: string, path: string) => RouteMatch): Middleware<ApiState> {
  return async (ctx, next) => {
    ctx.state.match = find(ctx.method, ctx.path);
    await next();
  };
}
