import { MULTIPART_STARTS_MAX } from '../../../shared/domain/multipart.ts';
import { discardBody } from '../body/read-body.ts';
import type { Dependencies } from '../dependencies.ts';
import { callerOf } from '../http/context.ts';
import { readBody } from '../http/read-body.ts';
import { jobIdOf } from '../jobs/load-job.ts';
import { abortUpload } from '../multipart/abort.ts';
import { completeUpload } from '../multipart/complete.ts';
import { completeBody, partNumbersBody, startBody } from '../multipart/request-schema.ts';
import { signParts } from '../multipart/sign-parts.ts';
import { startUpload } from '../multipart/start.ts';
import { assembledShape, multipartShape, partUrlsShape } from '../openapi/schemas.ts';
import { jobParameters } from './job-parameters.ts';
import type { Route } from './route.ts';

const PATH = '/v1/jobs/{job_id}/uploads/multipart';
const notStartedNote = 'Before a start, and after an abort, 400 carries `details.reason` `multipart_not_started`.';
const conflictNote = '409 carries `details.reason` and the `status` of the job: `already_terminal` when it has ended, `not_waiting` when it has its file, `already_uploaded` when another file was whole first.';

/** Uploads in parts, for files above what one PUT may carry (§4.4). */
export function multipartRoutes(deps: Dependencies): readonly Route[] {
  return [startRoute(deps), partsRoute(deps), completeRoute(deps), abortRoute(deps)];
}

function startRoute(deps: Dependencies): Route {
  return {
    method: 'POST',
    path: PATH,
    access: 'job.write',
    operation: {
      operationId: 'startMultipartUpload',
      tag: 'Uploads',
      summary: 'Start a multipart upload',
      description: `Works while the job waits for its file, also when the single upload URL has expired. Started again it answers the same upload, whatever \`size_bytes\` says. What is over the limit is refused with 413, and the job goes on waiting. A job whose import task is \`import/url\` is refused with 400 and \`details.reason\` \`not_an_upload\`. ${conflictNote} After ${MULTIPART_STARTS_MAX} starts that were all discarded it is \`too_many_multipart_starts\`: the job takes no further one, only the single upload while its URL works.`,
      parameters: jobParameters,
      body: startBody,
      success: { 201: { description: 'The upload was started.', body: multipartShape }, 200: { description: 'It was started before.', body: multipartShape } },
      errors: { 400: ['validation_failed'], 404: ['not_found'], 409: ['validation_failed'], 413: ['file_too_large', 'validation_failed'] },
    },
    async handle(ctx) {
      deps.logGuard.requireWritable();
      const { size_bytes } = await readBody(ctx, startBody);
      const { isNew, descriptor } = await startUpload(deps, callerOf(ctx), jobIdOf(ctx), size_bytes, ctx.state.requestId);
      ctx.status = isNew ? 201 : 200;
      ctx.body = descriptor;
    },
  };
}

function partsRoute(deps: Dependencies): Route {
  return {
    method: 'POST',
    path: `${PATH}/parts`,
    access: 'job.write',
    operation: {
      operationId: 'getPartUrls',
      tag: 'Uploads',
      summary: 'Get URLs for parts',
      description: `PUT the raw bytes of each part to its URL, without an API key: \`part_size\` bytes, the last part the rest. Keep the \`ETag\` of each answer. A URL works for 15 minutes, but not beyond the time in which the file may come, two hours after the job was created; it may be requested again. ${notStartedNote} ${conflictNote}`,
      parameters: jobParameters,
      body: partNumbersBody,
      success: { 200: { description: 'The URLs, in the order of the request.', body: partUrlsShape } },
      errors: { 400: ['validation_failed'], 404: ['not_found'], 409: ['validation_failed'], 413: ['validation_failed'] },
    },
    async handle(ctx) {
      deps.logGuard.requireWritable();
      const { part_numbers } = await readBody(ctx, partNumbersBody);
      ctx.body = { parts: await signParts(deps, callerOf(ctx), jobIdOf(ctx), part_numbers) };
    },
  };
}

function completeRoute(deps: Dependencies): Route {
  return {
    method: 'POST',
    path: `${PATH}/complete`,
    access: 'job.write',
    operation: {
      operationId: 'completeMultipartUpload',
      tag: 'Uploads',
      summary: 'Complete a multipart upload',
      description: `Assembles the file; the conversion then starts by itself. Every part is named once, in any order, with its ETag. A part that is missing, another or of another size is named in \`details.issues\`, and the job goes on waiting. Repeated with the same parts it answers the same, whatever became of the job. 413: the file is over the limit, the job ends as \`error\`, and nothing is charged. ${notStartedNote} ${conflictNote}`,
      parameters: jobParameters,
      body: completeBody,
      success: { 200: { description: 'The file is complete.', body: assembledShape } },
      errors: { 400: ['validation_failed'], 404: ['not_found'], 409: ['validation_failed'], 413: ['file_too_large', 'validation_failed'] },
    },
    async handle(ctx) {
      deps.logGuard.requireWritable();
      const { parts } = await readBody(ctx, completeBody);
      const named = parts.map(({ part_number, etag }) => ({ part_number, etag: etag.replaceAll('"', '') }));
      ctx.body = { size_bytes: await completeUpload(deps, callerOf(ctx), jobIdOf(ctx), named, ctx.state.requestId) };
    },
  };
}

function abortRoute(deps: Dependencies): Route {
  return {
    method: 'POST',
    path: `${PATH}/abort`,
    access: 'job.write',
    operation: {
      operationId: 'abortMultipartUpload',
      tag: 'Uploads',
      summary: 'Discard an unfinished multipart upload',
      description: `Another one may be started, or the single upload URL used while it works. ${notStartedNote} ${conflictNote}`,
      parameters: jobParameters,
      success: { 204: { description: 'The upload and its parts are gone.' } },
      errors: { 400: ['validation_failed'], 404: ['not_found'], 409: ['validation_failed'], 413: ['validation_failed'] },
    },
    async handle(ctx) {
      await discardBody(ctx);
      deps.logGuard.requireWritable();
      await abortUpload(deps, callerOf(ctx), jobIdOf(ctx), ctx.state.requestId);
      ctx.status = 204;
    },
  };
}
