import { z } from 'zod';
import type { Pair } from '../../../shared/domain/catalogue/pairs.ts';
import type { Offers } from '../offers/offers-watch.ts';
import { renderOperations, type RenderedOperations } from '../offers/render-operations.ts';
import type { OpenApiDocument } from '../openapi/document.ts';
import { operationsShape } from '../openapi/schemas.ts';
import type { Route } from './route.ts';

/** The same for everybody until the next release. */
const CACHE_CONTROL = 'public, max-age=300';
/** The same for everybody until a converter comes or goes, which those who ask shall see soon. */
const OPERATIONS_CACHE_CONTROL = 'public, max-age=30';

/** What anybody may read (§4.1). `describe` makes the OpenAPI document when it is first asked for. */
export function publicRoutes(offers: Offers, describe: () => OpenApiDocument): readonly Route[] {
  return [operationsRoute(offers), openApiRoute(describe)];
}

function operationsRoute(offers: Offers): Route {
  let rendered: { readonly pairs: readonly Pair[]; readonly operations: RenderedOperations } | undefined;
  return {
    method: 'GET',
    path: '/v1/operations',
    access: 'public',
    operation: {
      operationId: 'listOperations',
      tag: 'Public',
      summary: 'Every supported conversion',
      description:
        'What the running converters can do now, by the tools that they have: `POST /jobs` takes these pairs and refuses all others with `unsupported_conversion`. A converter that comes or goes changes the list within half a minute; while all of them are away it stays as it was, and jobs wait. 503 with `details.reason` `conversion_service_unavailable` when no converter has ever been there.\n\n`options` has a JSON Schema for each `output_format`. A property with `x-inputs` counts only for sources of these formats or categories (`image`, `document`, `spreadsheet`, `presentation`, `pdf`, `audio`, `video`, `iwork`); for others it is among the `ignored_options` of the task, as a property that is in no schema is.',
      success: {
        200: { description: 'All pairs of formats, and the options of each target format.', body: operationsShape, headers: { ETag: 'Changes with the list; send it in `If-None-Match`.' } },
        304: { description: 'The list is still the one of `If-None-Match`.', headers: { ETag: 'As sent.' } },
      },
    },
    handle(ctx) {
      const pairs = offers.pairs();
      // Made once for each change of the list: it is long, and anybody may ask for it.
      if (rendered?.pairs !== pairs) rendered = { pairs, operations: renderOperations(pairs) };
      const { text, etag } = rendered.operations;
      ctx.set('Cache-Control', OPERATIONS_CACHE_CONTROL);
      ctx.set('ETag', etag);
      ctx.type = 'json';
      ctx.status = 200;
      if (holds(ctx.get('If-None-Match'), etag)) ctx.status = 304;
      else ctx.body = text;
    },
  };
}

/** Whether a client names the answer that it would get. Browsers say `no-cache` together with it, so that is no reason to send it. */
function holds(ifNoneMatch: string, etag: string): boolean {
  return ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
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
