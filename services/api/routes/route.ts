import { Router } from '@koa/router';
import type { EventData } from '../../../shared/events/registry.ts';
import type { ApiContext } from '../http/context.ts';
import type { BudgetName } from '../limits/key-budgets.ts';
import type { OperationDescription } from '../openapi/operation.ts';

/** Scopes of §5. */
export type Scope = EventData<'account.api_key_created'>['scopes'][number];

/**
 * Who may ask: anybody (`public`), whoever has a signed link (`link`), any valid key (`any_key`), or keys with a scope.
 */
export type Access = 'public' | 'link' | 'any_key' | Scope;

type Layer = ReturnType<Router['match']>['path'][number];

/** One endpoint: how it is found, who may use it, how it is described, what it does. */
export type Route = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path from the root of the server; `{name}` stands for one segment. */
  readonly path: string;
  readonly access: Access;
  /** What a request counts against; all the rest unless it says otherwise (§8 rate limits 1). */
  readonly budget?: BudgetName;
  readonly operation: OperationDescription;
  readonly handle: (ctx: ApiContext) => Promise<void> | void;
};

/** What a path and a method lead to. */
export type RouteMatch =
  | { readonly kind: 'route'; readonly route: Route; readonly parameters: Readonly<Record<string, string>> }
  /** The path is known, the method is not; these are (D51). */
  | { readonly kind: 'method'; readonly allow: readonly string[] }
  | { readonly kind: 'none' };

/** Finds routes by path and method. HEAD finds what GET finds (D51). Segments are compared as written, undecoded. */
export function makeRouteFinder(routes: readonly Route[]): (method: string, path: string) => RouteMatch {
  const router = new Router({ strict: true, sensitive: true });
  const routeOf = new Map(routes.map((route) => [router.register(patternOf(route.path), [route.method], () => undefined), route]));
  return (method, path) => {
    const { path: layers, pathAndMethod } = router.match(path, method);
    const [layer] = pathAndMethod;
    const route = layer && routeOf.get(layer);
    if (layer && route) return { kind: 'route', route, parameters: parametersOf(layer, path) };
    return layers.length === 0 ? { kind: 'none' } : { kind: 'method', allow: allowedMethods(layers.flatMap((known) => routeOf.get(known)?.method ?? [])) };
  };
}

/** The router writes `:name` where OpenAPI writes `{name}`. */
function patternOf(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

/** As written: an id of ours needs no escapes, and whatever has some is none. */
function parametersOf(layer: Layer, path: string): Readonly<Record<string, string>> {
  return Object.fromEntries(layer.captures(path).map((value, index) => [layer.paramNames[index]?.name ?? '', value]));
}

function allowedMethods(methods: readonly string[]): readonly string[] {
  return [...methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])), 'OPTIONS'];
}
