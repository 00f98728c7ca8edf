import { OpenAPIRegistry, OpenApiGeneratorV31, type ResponseConfig, type RouteConfig } from '@asteasolutions/zod-to-openapi';
import { z } from 'zod';
import type { ErrorCode } from '../errors/api-error.ts';
import type { Access, Route } from '../routes/route.ts';
import type { SuccessDescription } from './operation.ts';
import { errorShapeOf } from './error-shapes.ts';
import { describeEvents } from './events.ts';
import { TEST_MODE } from './test-mode.ts';

/** Version of this description; the API's own version is in its path (§9). */
const VERSION = '1.0.0';
const BASE_PATH = '/v1';
/** Name of the API, as its description and its reference show it. */
export const API_TITLE = 'File Conversion Service';

/** The OpenAPI 3.1 document, as JSON. */
export type OpenApiDocument = ReturnType<OpenApiGeneratorV31['generateDocument']>;

/** Where clients reach the service, and its files, which may have a host of their own (D92). */
type Addresses = { readonly publicUrl: string; readonly filesUrl: string };

const INTRODUCTION = [
  'Converts files. Create a job of three tasks (import, convert, export), upload the file to the URL in the answer, wait for the job, download the result.',
  'Every address but `/operations` and `/openapi.json` needs an API key; those two ignore one. A missing, malformed, revoked, expired or unknown key gets one and the same 401. A job is visible to the keys of its organization and mode, to all others it is `not_found`.',
  'HEAD works wherever GET does. An unknown address is answered 404 `not_found`, an unknown method 405 `method_not_allowed` with `Allow`, and what cannot be read as HTTP 400, 408 or 431 `validation_failed`.',
  TEST_MODE,
  'Every answer carries `X-Request-Id`. Every answer that is not 2xx carries the error envelope. Fields and codes may be added at any time; clients tolerate what they do not know.',
  'Each key has two budgets of requests in a calendar minute: one for creating jobs, one for all the rest. Every answer to a valid key says in `X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset` how the budget of that request stands; every request counts, also one that is refused. 429 `rate_limited` names the `limit`, its `reset` in Unix seconds and a `reason`: `key_rate_limited` when the budget is used up, `ip_throttled` when too many requests without a valid key came from the address of the caller. Requests with `wait` count once.',
  'Checks are made in this order: address of the caller, API key, budget of the key, address and method of the request, scope, size and syntax of the body, validation, whether the job exists, whether the conversion is supported, the cap of active jobs, credits, state of the job. An earlier answer for an `Idempotency-Key` comes before validation.',
].join('\n\n');

/** Describes the routes in OpenAPI 3.1, from the schemas that check their requests (§9). Addresses are without `/v1`. */
export function describeApi(routes: readonly Route[], addresses: Addresses): OpenApiDocument {
  const registry = new OpenAPIRegistry();
  const authorization = registry.registerComponent('securitySchemes', 'bearer', { type: 'http', scheme: 'bearer', description: 'API key in the header `Authorization`. It counts when both headers are sent.' });
  const header = registry.registerComponent('securitySchemes', 'apiKey', { type: 'apiKey', in: 'header', name: 'X-API-Key' });
  const security = [{ [authorization.name]: [] }, { [header.name]: [] }];
  for (const route of routes) registry.registerPath(describeRoute(route, addresses, security));
  for (const event of describeEvents()) registry.registerWebhook(event);
  const document = new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: '3.1.0',
    info: { title: API_TITLE, version: VERSION, description: INTRODUCTION, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: addresses.publicUrl + BASE_PATH }],
  });
  return document;
}

function describeRoute(route: Route, { publicUrl, filesUrl }: Addresses, security: NonNullable<RouteConfig['security']>): RouteConfig {
  const { operation, access, path } = route;
  const isBelowBase = path.startsWith(`${BASE_PATH}/`);
  const needsKey = access !== 'public' && access !== 'link';
  const scope = needsKey && access !== 'any_key' ? `Scope: \`${access}\`.` : '';
  const { body, query, parameters, requestHeaders } = operation;
  return {
    method: toLower(route.method),
    path: isBelowBase ? path.slice(BASE_PATH.length) : path,
    // What lies at the root of the server says so; the document's own base has /v1 in it.
    ...(isBelowBase ? {} : { servers: [{ url: access === 'link' ? filesUrl : publicUrl }] }),
    operationId: operation.operationId,
    tags: [operation.tag],
    summary: operation.summary,
    description: [operation.description, scope].filter((text) => text !== undefined && text !== '').join('\n\n'),
    security: needsKey ? security : [],
    request: {
      ...(query ? { query } : {}),
      ...(parameters ? { params: parameters } : {}),
      ...(requestHeaders ? { headers: requestHeaders } : {}),
      ...(body === undefined ? {} : { body: { required: true, content: contentOf(body) } }),
    },
    responses: { ...describeSuccesses(operation.success, needsKey), ...describeErrors(errorsOf(access, operation.errors ?? {}), needsKey) },
  };
}

function toLower(method: Route['method']): 'get' | 'post' | 'put' | 'delete' {
  return method === 'GET' ? 'get' : method === 'POST' ? 'post' : method === 'PUT' ? 'put' : 'delete';
}

function contentOf(body: z.ZodType | readonly string[]): NonNullable<ResponseConfig['content']> {
  if (body instanceof z.ZodType) return { 'application/json': { schema: body } };
  return Object.fromEntries(body.map((type) => [type, { schema: { type: 'string', format: 'binary' } }]));
}

function describeSuccesses(successes: Readonly<Record<number, SuccessDescription>>, needsKey: boolean): Record<string, ResponseConfig> {
  return mapValues(successes, ({ description, body, headers = {}, headersAtTimes = {} }) => ({
    description,
    headers: headersOf({ ...(needsKey ? BUDGET_HEADERS : {}), ...headers }, headersAtTimes),
    ...(body === undefined ? {} : { content: contentOf(body) }),
  }));
}

function describeErrors(errors: Readonly<Record<number, readonly ErrorCode[]>>, needsKey: boolean): Record<string, ResponseConfig> {
  return mapValues(errors, (codes, status) => {
    const budget = needsKey && status !== '401' ? BUDGET_HEADERS : {};
    const always = ERROR_HEADERS[status] ?? {};
    return {
      description: codes.map((code) => `\`${code}\``).join(', '),
      // A caller who is refused before he is known has no budget.
      headers: BEFORE_THE_KEY.has(status) ? headersOf(always, { ...budget, ...SOMETIMES[status] }) : headersOf({ ...budget, ...always }),
      content: contentOf(errorShapeOf(codes)),
    };
  });
}

/** How the budget stands that the request counted against (§8 rate limits 2). */
const BUDGET_HEADERS = {
  'X-RateLimit-Limit': 'Requests in a minute.',
  'X-RateLimit-Remaining': 'Requests left in this minute.',
  'X-RateLimit-Reset': 'Unix time in seconds when the minute ends.',
};

/** Headers that come with an error of some status. */
const ERROR_HEADERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  401: { 'WWW-Authenticate': 'Always `Bearer`.' },
  503: { 'Retry-After': 'Seconds after which to try again.' },
};

/** Statuses that also a caller can get who is not known yet. */
const BEFORE_THE_KEY: ReadonlySet<string> = new Set(['400', '429', '503']);

/** Headers that come with some errors of a status. */
const SOMETIMES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  429: { 'Retry-After': 'Seconds until the minute ends; absent for `active_job_limit_reached`.' },
};

/** Headers whose value is a whole number. */
const NUMBER_HEADERS: ReadonlySet<string> = new Set(['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'Retry-After']);

function headerShape(description: string, name: string): z.ZodType {
  return NUMBER_HEADERS.has(name) ? z.int().min(0).describe(description) : z.string().describe(description);
}

function headersOf(always: Readonly<Record<string, string>>, sometimes: Readonly<Record<string, string>> = {}) {
  const all = { 'X-Request-Id': 'Names this request to support.', ...always };
  return z.object({
    ...mapValues(all, headerShape),
    ...mapValues(sometimes, (description, name) => headerShape(description, name).optional()),
  });
}

/** Errors that every route of an access rule can answer, and its own. */
function errorsOf(access: Access, own: Readonly<Record<number, readonly ErrorCode[]>>): Readonly<Record<number, readonly ErrorCode[]>> {
  // 400 also without a body or a query: what cannot be read as HTTP (D51).
  const byAccess: Record<number, readonly ErrorCode[]> = { 400: ['validation_failed'], 500: ['internal'], 503: ['internal'] };
  if (access !== 'public' && access !== 'link') Object.assign(byAccess, { 401: ['unauthorized'], 429: ['rate_limited'] });
  if (access !== 'public' && access !== 'link' && access !== 'any_key') byAccess[403] = ['forbidden_scope'];
  return { ...byAccess, ...own };
}

function mapValues<Value, Result>(record: Readonly<Record<string, Value>>, map: (value: Value, key: string) => Result): Record<string, Result> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value, key)]));
}
