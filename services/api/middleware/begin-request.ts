import { randomUUID } from 'node:crypto';
import type { Middleware } from 'koa';
import type { ApiState } from '../http/context.ts';

/** Sets up the state of a request and gives every answer its `X-Request-Id`; never the client's own, which could be anything (D74). */
export const beginRequest: Middleware<ApiState> = async (ctx, next) => {
  ctx.state.requestId = randomUUID();
  ctx.set('X-Request-Id', ctx.state.requestId);
  ctx.state.match = { kind: 'none' };
  ctx.state.awaitsContinue = ctx.get('Expect').toLowerCase() === '100-continue';
  await next();
};
