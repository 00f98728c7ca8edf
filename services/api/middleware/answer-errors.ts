import type { Middleware } from 'koa';
import { TransientError } from '../../../shared/errors/errors.ts';
import type { Logger } from '../../../shared/log/log.ts';
import { envelopeOf } from '../errors/api-error.ts';
import { toApiError } from '../errors/to-api-error.ts';
import { answerEarly } from '../http/answer-early.ts';
import type { ApiContext, ApiState } from '../http/context.ts';

/** Turns whatever was thrown into the envelope of §7, and logs what a person should look at. */
export function answerErrors(logger: Logger): Middleware<ApiState> {
  return async (ctx, next) => {
    try {
      await next();
    } catch (thrown) {
      const error = toApiError(thrown);
      const bound = { err: thrown, request_id: ctx.state.requestId, job_id: ctx.state.jobId };
      // One that was made for the client was asked for by a test key (D65).
      if (error.status === 500 && error !== thrown) logger.error(bound, 'a request failed');
      else if (thrown instanceof TransientError) logger.warn(bound, 'a dependency is away');
      ctx.status = error.status;
      ctx.set(error.headers);
      const body = envelopeOf(error, ctx.state.requestId);
      if (isStillSending(ctx)) answerEarly(ctx, body);
      else ctx.body = body;
    }
  };
}

/** True while a body is on its way that nobody reads any more; not when the client waits to be asked for it. */
function isStillSending(ctx: ApiContext): boolean {
  if (ctx.req.complete || ctx.method === 'HEAD') return false;
  if (!ctx.state.awaitsContinue) return true;
  ctx.set('Connection', 'close');
  return false;
}
