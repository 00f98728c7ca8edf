import type { EventData } from '../../../shared/events/registry.ts';
import type { ApiContext } from '../http/context.ts';
import type { OperationDescription } from '../openapi/operation.ts';

/** Scopes of §5. */
export type Scope = EventData<'account.api_key_created'>['scopes'][number];

/**
 * Who may ask: anybody (`public`), whoever has a signed link (`link`), any valid key (`any_key`), or keys with a scope.
 */
export type Access = 'public' | 'link' | 'any_key' | Scope;

/** One endpoint: how it is found, who may use it, how it is described, what it does. */
export type Route = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path from the root of the server; `{name}` stands for one segment. */
  readonly path: string;
  readonly access: Access;
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
  const table = routes.map((route) => ({ route, segments: route.path.split('/') }));
  return (method, path) => {
    const given = path.split('/');
    const found = table.flatMap(({ route, segments }) => {
      const parameters = matchSegments(segments, given);
      return parameters ? [{ route, parameters }] : [];
    });
    if (found.length === 0) return { kind: 'none' };
    const wanted = method === 'HEAD' ? 'GET' : method;
    const hit = found.find(({ route }) => route.method === wanted);
    return hit ? { kind: 'route', ...hit } : { kind: 'method', allow: allowedMethods(found.map(({ route }) => route.method)) };
  };
}

function matchSegments(segments: readonly string[], given: readonly string[]): Readonly<Record<string, string>> | undefined {
  if (segments.length !== given.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [index, segment] of segments.entries()) {
    const value = given[index] ?? '';
    if (!segment.startsWith('{')) {
      if (segment !== value) return undefined;
    } else if (value === '') return undefined;
    else parameters[segment.slice(1, -1)] = value;
  }
  return parameters;
}

function allowedMethods(methods: readonly string[]): readonly string[] {
  return [...methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])), 'OPTIONS'];
}
