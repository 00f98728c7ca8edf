import { z } from 'zod';
import { ApiError } from '../errors/api-error.ts';
import type { ApiContext } from '../http/context.ts';
import { API_TITLE } from '../openapi/document.ts';
import { readReferenceFiles, type ReferenceFile } from '../reference/files.ts';
import { composeReferencePage, REFERENCE_PATH, REFERENCE_SECURITY_POLICY } from '../reference/page.ts';
import type { Route } from './route.ts';

/** Browsers ask again after this time, and get 304 while nothing has changed. */
const CACHE_CONTROL = 'public, max-age=3600';

const fileParameters = z.object({ file: z.string().describe('Name of a file that the page refers to.') });

/** The interactive reference (§5.9), all of it from this server. */
export function referenceRoutes(): readonly Route[] {
  const page = Buffer.from(composeReferencePage(API_TITLE));
  let files: ReadonlyMap<string, ReferenceFile> | undefined;
  return [
    {
      method: 'GET',
      path: REFERENCE_PATH,
      access: 'public',
      operation: {
        operationId: 'getReference',
        tag: 'Public',
        summary: 'The interactive reference',
        description: 'A page that shows this description and tries out requests with a key that is typed there. Browsers may call the API from its origin alone.',
        success: { 200: { description: 'The page.', body: ['text/html'] } },
      },
      handle(ctx) {
        allowPage(ctx);
        ctx.type = 'text/html; charset=utf-8';
        ctx.body = page;
      },
    },
    {
      method: 'GET',
      path: `${REFERENCE_PATH}/{file}`,
      access: 'public',
      operation: {
        operationId: 'getReferenceFile',
        tag: 'Public',
        summary: 'A file of the interactive reference',
        parameters: fileParameters,
        success: {
          200: { description: 'The file.', body: ['text/javascript', 'text/css', 'image/png'], headers: { ETag: 'Changes with the file.' } },
          304: { description: 'The file is the one that `If-None-Match` names.' },
        },
        errors: { 404: ['not_found'] },
      },
      handle(ctx) {
        files ??= readReferenceFiles();
        const file = files.get(ctx.path.slice(REFERENCE_PATH.length + 1));
        if (!file) throw ApiError.notFound('There is nothing at this address.');
        sendFile(ctx, file);
      },
    },
  ];
}

function allowPage(ctx: ApiContext): void {
  ctx.set({ 'Content-Security-Policy': REFERENCE_SECURITY_POLICY, 'Cache-Control': CACHE_CONTROL });
}

function sendFile(ctx: ApiContext, file: ReferenceFile): void {
  allowPage(ctx);
  ctx.status = 200;
  ctx.set('ETag', file.etag);
  ctx.vary('Accept-Encoding');
  if (ctx.fresh) {
    ctx.status = 304;
    return;
  }
  ctx.type = file.contentType;
  const isGzipped = ctx.acceptsEncodings('gzip', 'identity') === 'gzip';
  if (isGzipped) ctx.set('Content-Encoding', 'gzip');
  ctx.body = isGzipped ? file.gzipped : file.bytes;
}
