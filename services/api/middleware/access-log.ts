import type { Middleware } from 'koa';
import type { Logger } from '../../../shared/log/log.ts';
import type { ApiState } from '../http/context.ts';
import type { RouteMatch } from '../routes/route.ts';

/** One line a request, after its answer is known: ids, status and time; never its query, headers or body. */
export function logAccess(logger: Logger): Middleware<ApiState> {
  return async (ctx, next) => {
    const startMs = performance.now();
    await next();
    const { requestId, jobId, webhookId, key, match } = ctx.state;
    const line = {
      request_id: requestId,
      job_id: jobId,
      webhook_id: webhookId,
      organization_id: key?.organization_id,
      method: ctx.method,
      route: match.kind === 'route' ? match.route.path : undefined,
      status: ctx.status,
      duration_ms: Math.round(performance.now() - startMs),
    };
    logger[levelOf(ctx.status, match)](line, 'answered');
  };
}

/** Health is asked all day long, and says itself what it found. */
function levelOf(status: number, match: RouteMatch): 'debug' | 'info' | 'warn' {
  if (match.kind === 'route' && match.route.operation.tag === 'Health') return 'debug';
  return status >= 500 ? 'warn' : 'info';
}
