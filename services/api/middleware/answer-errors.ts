import type { Middleware } from 'koa';
import { TransientError } from '../../../shared/errors/errors.ts';
import type { Logger } from '../../../shared/log/log.ts';
import { envelopeOf } from '../errors/api-error.ts';
import { toApiError } from '../errors/to-api-error.ts';
import type { ApiState } from '../http/context.ts';

/** Turns whatever was thrown into the envelope of §7, and logs what a person should look at. */
export function answerErrors(logger: Logger): Middleware<ApiState> {
  return async (ctx, next) => {
    try {
      await next();
    } catch (thrown) {
      const error = toApiError(thrown);
      const bound = { err: thrown, request_id: ctx.state.requestId, job_id: ctx.state.jobId };
      if (error.status === 500) logger.error(bound, 'a request failed');
      else if (thrown instanceof TransientError) logger.warn(bound, 'a dependency is away');
      ctx.status = error.status;
      ctx.set(error.headers);
      ctx.body = envelopeOf(error, ctx.state.requestId);
      leaveUnreadBody(ctx.req, (name, value) => ctx.set(name, value));
    }
  };
}

/** A body that nobody read would be taken for the next request on this connection, which then hangs. */
function leaveUnreadBody(request: { readonly complete: boolean; resume(): unknown }, set: (name: string, value: string) => void): void {
  if (request.complete) return;
  set('Connection', 'close');
  request.resume();
}
