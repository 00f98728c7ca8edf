import type { ParameterizedContext } from 'koa';
import type { KeyContext } from '../../../shared/accounts/accounts-copy.ts';
import { Defect } from '../../../shared/errors/errors.ts';
import type { RouteMatch } from '../routes/route.ts';

/** What the middleware finds out about a request on its way to the handler. */
export type ApiState = {
  requestId: string;
  /** Route of this path and method, methods of the path, or nothing. */
  match: RouteMatch;
  /** The caller, once it is known. */
  key?: KeyContext;
  /** Job the request is about; for the log. */
  jobId?: string;
  /** Webhook endpoint the request is about; for the log. */
  webhookId?: string;
  /** The client waits for `100 Continue` before it sends the body. */
  awaitsContinue: boolean;
};

/** A request and its answer. */
export type ApiContext = ParameterizedContext<ApiState>;

/** The caller. Throws `Defect` when the route takes none, which only wrong code can cause. */
export function callerOf(ctx: ApiContext): KeyContext {
  if (!ctx.state.key) throw new Defect('a route for callers was reached without one');
  return ctx.state.key;
}

/** A part of the path that the route names, as the client wrote it. */
export function pathParameter(ctx: ApiContext, name: string): string {
  const { match } = ctx.state;
  return match.kind === 'route' ? (match.parameters[name] ?? '') : '';
}
