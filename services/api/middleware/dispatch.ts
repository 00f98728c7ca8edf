import type { Middleware } from 'koa';
import { ApiError } from '../errors/api-error.ts';
import type { ApiState } from '../http/context.ts';

/** 404 for a path that no route has, 405 with `Allow` for a method that the path does not take (D51). */
export const refuseUnknown: Middleware<ApiState> = async (ctx, next) => {
  const { match } = ctx.state;
  if (match.kind === 'none') throw ApiError.notFound('There is nothing at this address.');
  if (match.kind === 'method') {
    const allow = match.allow.join(', ');
    throw ApiError.of(405, 'method_not_allowed', `This address takes ${allow}.`, {}, { Allow: allow });
  }
  await next();
};

/** 403 names the scope that is missing (§5). It comes before any look at the request or the job (D3). */
export const requireScope: Middleware<ApiState> = async (ctx, next) => {
  const { match, key } = ctx.state;
  if (match.kind === 'route' && key) {
    const { access } = match.route;
    const isOpen = access === 'public' || access === 'link' || access === 'any_key';
    if (!isOpen && !key.scopes.includes(access)) {
      throw ApiError.of(403, 'forbidden_scope', `This key lacks the scope ${access}.`, { required_scope: access });
    }
  }
  await next();
};

/** Hands the request to its route. */
export const runRoute: Middleware<ApiState> = async (ctx) => {
  const { match } = ctx.state;
  if (match.kind === 'route') await match.route.handle(ctx);
};
