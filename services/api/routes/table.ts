import type { Dependencies } from '../dependencies.ts';
import { describeApi } from '../openapi/document.ts';
import { fileRoutes } from './files.ts';
import { healthRoutes } from './health.ts';
import { jobRoutes } from './jobs.ts';
import { multipartRoutes } from './multipart.ts';
import { callerRoutes } from './me.ts';
import { webhookRoutes } from './webhooks.ts';
import { publicRoutes } from './public.ts';
import { referenceRoutes } from './reference.ts';
import type { Route } from './route.ts';

/** Every endpoint there is; requests are matched against it, and `/openapi.json` is made from it. */
export function makeRoutes(deps: Dependencies): readonly Route[] {
  const routes: readonly Route[] = [
    ...jobRoutes(deps),
    ...multipartRoutes(deps),
    ...webhookRoutes(deps),
    ...callerRoutes(deps),
    ...publicRoutes(deps.offers, () => describeApi(routes, deps.config)),
    ...referenceRoutes(),
    ...(deps.config.servesFiles ? fileRoutes(deps) : []),
    ...healthRoutes(deps),
  ];
  return routes;
}
