import type { Dependencies } from '../dependencies.ts';
import { envelopeOf } from '../errors/api-error.ts';
import { unavailable } from '../errors/to-api-error.ts';
import { lookAtDependencies } from '../health/dependencies.ts';
import { shareLooks } from '../health/share-looks.ts';
import { healthShape, readinessShape } from '../openapi/schemas.ts';
import type { Route } from './route.ts';

/** Whether the process lives, and whether it can serve; at the root of the server. */
export function healthRoutes(deps: Dependencies): readonly Route[] {
  const look = shareLooks(() => lookAtDependencies(deps));
  return [
    {
      method: 'GET',
      path: '/healthz',
      access: 'public',
      operation: { operationId: 'getHealth', tag: 'Health', summary: 'Whether the process lives', success: { 200: { description: 'It does.', body: healthShape } } },
      handle(ctx) {
        ctx.body = { status: 'ok' };
      },
    },
    {
      method: 'GET',
      path: '/readyz',
      access: 'public',
      operation: {
        operationId: 'getReadiness',
        tag: 'Health',
        summary: 'Whether every dependency answers',
        description: 'A 503 names the dependency that is away in `dependencies`, beside the error.',
        success: { 200: { description: 'All do.', body: readinessShape } },
      },
      async handle(ctx) {
        const dependencies = await look();
        const isReady = Object.values(dependencies).every((state) => state === 'ok');
        ctx.body = { status: isReady ? 'ready' : 'not_ready', dependencies };
        if (isReady) return;
        const error = unavailable('dependency_unavailable');
        ctx.status = error.status;
        ctx.set(error.headers);
        ctx.body = { status: 'not_ready', dependencies, ...envelopeOf(error, ctx.state.requestId) };
      },
    },
  ];
}
