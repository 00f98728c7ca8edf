import { z } from 'zod';
import { listPairs } from '../../../shared/domain/catalogue/pairs.ts';
import { OPTION_SCHEMAS } from '../../../shared/domain/catalogue/options/options.ts';
import type { OpenApiDocument } from '../openapi/document.ts';
import { operationsShape } from '../openapi/schemas.ts';
import type { Route } from './route.ts';

/** The same for everybody until the next release. */
const CACHE_CONTROL = 'public, max-age=300';

/** What anybody may read (§4.1). `describe` makes the OpenAPI document when it is first asked for. */
export function publicRoutes(describe: () => OpenApiDocument): readonly Route[] {
  return [operationsRoute(), openApiRoute(describe)];
}

function operationsRoute(): Route {
  const operations = {
    data: listPairs().map(({ input, output, estimate, weight }) => ({ input_format: input, output_format: output, credits_estimated: estimate, weight })),
    options: Object.fromEntries(Object.entries(OPTION_SCHEMAS).map(([format, schema]) => [format, describeOptions(schema)])),
  };
  return {
    method: 'GET',
    path: '/v1/operations',
    access: 'public',
    operation: {
      operationId: 'listOperations',
      tag: 'Public',
      summary: 'Every supported conversion',
      success: { 200: { description: 'All pairs of formats, and the options of each target format.', body: operationsShape } },
    },
    handle(ctx) {
      ctx.set('Cache-Control', CACHE_CONTROL);
      ctx.body = operations;
    },
  };
}

/** The schema as clients meet it: a key that it does not know is no error and has no effect (D22). */
function describeOptions(schema: z.ZodObject): object {
  const { additionalProperties: _refused, ...described } = z.toJSONSchema(schema);
  return described;
}

function openApiRoute(describe: () => OpenApiDocument): Route {
  let document: OpenApiDocument | undefined;
  return {
    method: 'GET',
    path: '/v1/openapi.json',
    access: 'public',
    operation: {
      operationId: 'getOpenApi',
      tag: 'Public',
      summary: 'This description',
      success: { 200: { description: 'OpenAPI 3.1.', body: z.record(z.string(), z.unknown()) } },
    },
    handle(ctx) {
      document ??= describe();
      ctx.set('Cache-Control', CACHE_CONTROL);
      ctx.body = document;
    },
  };
}
