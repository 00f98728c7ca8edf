import Koa from 'koa';
import type { Dependencies } from './dependencies.ts';
import type { ApiState } from './http/context.ts';
import { logAccess } from './middleware/access-log.ts';
import { answerErrors } from './middleware/answer-errors.ts';
import { answerOptions } from './middleware/answer-options.ts';
import { authenticate } from './middleware/authenticate.ts';
import { refuseUnknown, requireScope, runRoute } from './middleware/dispatch.ts';
import { findRoute } from './middleware/find-route.ts';
import { beginRequest } from './middleware/begin-request.ts';
import { setSecurityHeaders } from './middleware/security-headers.ts';
import { makeRoutes } from './routes/table.ts';
import { makeRouteFinder } from './routes/route.ts';

/**
 * The HTTP application. The order of this list is the order of checks D1: what counts failed attempts by address goes
 * before `authenticate`, what counts requests of a key goes after it, earlier answers are replayed by the route of
 * POST /jobs, between its body and its validation.
 */
export function createApp(deps: Dependencies): Koa<ApiState> {
  const app = new Koa<ApiState>();
  const { accounts, clock, logger, keysAreCurrent } = deps;
  app.use(beginRequest);
  app.use(logAccess(logger));
  app.use(setSecurityHeaders);
  app.use(answerErrors(logger));
  app.use(findRoute(makeRouteFinder(makeRoutes(deps))));
  app.use(answerOptions);
  app.use(authenticate({ accounts, clock, isCurrent: keysAreCurrent }));
  app.use(refuseUnknown);
  app.use(requireScope);
  app.use(runRoute);
  // Broken connections end up here, after the answer; what a client should know was answered by `answerErrors`.
  app.on('error', (error: Error) => logger.debug({ err: error }, 'an answer broke off'));
  return app;
}
