import Koa from 'koa';
import type { Dependencies } from './dependencies.ts';
import type { ApiState } from './http/context.ts';
import { securityHeaders } from './http/security-headers.ts';
import { logAccess } from './middleware/access-log.ts';
import { answerErrors } from './middleware/answer-errors.ts';
import { authenticate } from './middleware/authenticate.ts';
import { refuseUnknown, requireScope, runRoute } from './middleware/dispatch.ts';
import { findRoute } from './middleware/find-route.ts';
import { beginRequest } from './middleware/begin-request.ts';
import { boundBody } from './middleware/bound-body.ts';
import { spendBudget } from './middleware/spend-budget.ts';
import { setHeaders } from './middleware/set-headers.ts';
import { openToBrowsers } from './middleware/open-to-browsers.ts';
import { makeRoutes } from './routes/table.ts';
import { makeRouteFinder } from './routes/route.ts';

/**
 * The HTTP application. The order of this list is the order of checks D1; what replays earlier answers goes into the
 * route of POST /jobs between its body and its validation.
 */
export function createApp(deps: Dependencies): Koa<ApiState> {
  const app = new Koa<ApiState>();
  const { config, accounts, clock, logger, keysAreCurrent, addressOf, addressFailures, keyBudgets } = deps;
  app.use(beginRequest);
  app.use(logAccess(logger));
  app.use(setHeaders(securityHeaders(config.publicUrl)));
  app.use(answerErrors(logger));
  app.use(findRoute(makeRouteFinder(makeRoutes(deps))));
  app.use(boundBody());
  app.use(openToBrowsers(config.publicUrl));
  app.use(authenticate({ accounts, clock, isCurrent: keysAreCurrent, addressOf, failures: addressFailures }));
  app.use(spendBudget(keyBudgets, clock));
  app.use(refuseUnknown);
  app.use(requireScope);
  app.use(runRoute);
  // Broken connections end up here, after the answer; what a client should know was answered by `answerErrors`.
  app.on('error', (error: Error) => logger.debug({ err: error }, 'an answer broke off'));
  return app;
}
