import { z } from 'zod';
import { newId } from '../../../shared/ids/ids.ts';
import { LIST_DEPTH_MAX } from '../../../projections/jobs/queries.ts';
import { readJsonObject, discardBody } from '../body/read-body.ts';
import { admitRequest } from '../create-job/admit-request.ts';
import { createJob } from '../create-job/create-job.ts';
import { renderAnswer } from '../create-job/creation-answer.ts';
import { createJobBody, shortText } from '../create-job/request-schema.ts';
import type { Dependencies } from '../dependencies.ts';
import { ApiError } from '../errors/api-error.ts';
import { callerOf } from '../http/context.ts';
import { untilOver } from '../http/until-over.ts';
import { readQuery } from '../http/read-query.ts';
import { createOnce } from '../idempotency/create-once.ts';
import { createJobHeaders, readIdempotencyKey } from '../idempotency/read-idempotency-key.ts';
import { cancelJob, deleteJob } from '../jobs/end-job.ts';
import { listPage } from '../jobs/list-page.ts';
import { jobIdOf } from '../jobs/load-job.ts';
import { readTyped, viewOf } from '../jobs/view-job.ts';
import { waitForChange } from '../long-poll/wait-for-change.ts';
import { jobListShape, jobShape, jobStatus } from '../openapi/schemas.ts';
import { jobParameters } from './job-parameters.ts';
import { integerField, pageFields, PER_PAGE_DEFAULT } from './query-fields.ts';
import type { Route } from './route.ts';

/** Longest `wait` (§8), in seconds. */
const WAIT_SECONDS_MAX = 25;

const waitQuery = z.object({
  wait: integerField({ min: 0, max: WAIT_SECONDS_MAX }, 'Seconds to wait for the status to change. A job that has ended is answered at once. The current job is answered either way, and at once when 600 requests of the key wait already.'),
});

const listQuery = z.object({
  ...pageFields('Jobs', `Page, counted from 1. A page past the end is empty, and so is one that ends beyond the newest ${LIST_DEPTH_MAX} jobs; filters reach the others. \`total\` is right in any case.`),
  status: z.enum(jobStatus.options, { error: `must be one of ${jobStatus.options.join(', ')}` }).optional().describe('Only jobs of this status.'),
  tag: shortText.optional().describe('Only jobs with exactly this tag.'),
  api_key_id: z.uuid({ error: 'must be a UUID' }).optional().describe('Only jobs that this key created.'),
  include: z.literal('tasks', { error: 'must be tasks' }).optional().describe('`tasks` adds the tasks to each job.'),
});

/** The jobs of the caller's organization and mode (§4.3). */
export function jobRoutes(deps: Dependencies): readonly Route[] {
  return [createRoute(deps), listRoute(deps), readRoute(deps), cancelRoute(deps), deleteRoute(deps)];
}

function createRoute(deps: Dependencies): Route {
  return {
    method: 'POST',
    path: '/v1/jobs',
    access: 'job.write',
    budget: 'create',
    operation: {
      operationId: 'createJob',
      tag: 'Jobs',
      summary: 'Create a job',
      description: 'A live key has the estimated credits held until the job ends. The answer is the only one that holds `tasks[0].result.uploadUrl`; PUT the raw file there, without an API key, within the hour. With `import/url` nothing is uploaded: the service fetches the file at once. `url_import_failed` carries `details.reason`: `not_https`, `invalid_url` or `blocked_address`.\n\nWith an `Idempotency-Key` a repeated request gets the first one\'s answer, as it was then and whatever became of the job. The same key with another body (another JSON value; order and spacing do not matter) is 422 `idempotency_conflict`; while the first request runs, whatever the body, it is 409 with `Retry-After: 1`.\n\nOrganizations without an active plan have at most 5 active jobs (waiting, queued or processing) over all live keys: then 429 with `details.reason` `active_job_limit_reached` and no `Retry-After`. A job whose file has not come within an hour does not count.',
      requestHeaders: createJobHeaders,
      body: createJobBody,
      success: { 201: { description: 'The job, waiting for its file.', body: jobShape, headers: { Location: 'Path of the job.' }, headersAtTimes: { 'Idempotent-Replayed': '`true` when an earlier request with this `Idempotency-Key` created the job; else absent.' } } },
      errors: {
        400: ['validation_failed', 'unsupported_conversion', 'url_import_failed'],
        402: ['insufficient_credits'],
        409: ['idempotency_conflict'],
        413: ['validation_failed', 'file_too_large'],
        422: ['idempotency_conflict'],
        429: ['rate_limited'],
      },
    },
    async handle(ctx) {
      deps.logGuard.requireWritable();
      const [caller, { requestId }] = [callerOf(ctx), ctx.state];
      const body = await readJsonObject(ctx);
      const key = readIdempotencyKey(ctx);
      const { answer, isReplay } =
        key === undefined
          ? { answer: await createJob(deps, caller, await admitRequest(deps, caller, body), requestId, { jobId: newId(deps.clock.nowMs()) }), isReplay: false }
          : await createOnce(deps, caller, key, body, requestId);
      const { id } = answer.job;
      ctx.state.jobId = id;
      ctx.status = 201;
      ctx.set('Location', `${deps.config.publicUrl}/v1/jobs/${id}`);
      if (isReplay) ctx.set('Idempotent-Replayed', 'true');
      ctx.body = await renderAnswer(deps.objects, answer);
    },
  };
}

function readRoute(deps: Dependencies): Route {
  return {
    method: 'GET',
    path: '/v1/jobs/{job_id}',
    access: 'job.read',
    operation: {
      operationId: 'getJob',
      tag: 'Jobs',
      summary: 'Read a job, or wait for it',
      description: 'Reading a job that waits for its file makes the service look for it, so that the end of an upload need not be signalled.',
      parameters: jobParameters,
      query: waitQuery,
      success: { 200: { description: 'The job as it is now.', body: jobShape } },
      errors: { 400: ['validation_failed'], 404: ['not_found'] },
    },
    async handle(ctx) {
      const { wait = 0 } = readQuery(ctx, waitQuery);
      const jobId = jobIdOf(ctx);
      const job = await waitForChange(deps, callerOf(ctx), jobId, wait * 1000, untilOver(ctx.res, deps.stopping));
      const typed = await readTyped(deps, jobId, job);
      if (!typed) throw ApiError.notFound();
      ctx.body = await viewOf(deps, jobId, job, typed, { tasks: true });
    },
  };
}

function listRoute(deps: Dependencies): Route {
  return {
    method: 'GET',
    path: '/v1/jobs',
    access: 'job.read',
    operation: {
      operationId: 'listJobs',
      tag: 'Jobs',
      summary: 'List jobs, newest first',
      description: 'What this key has seen of a job before, the list knows too.',
      query: listQuery,
      success: { 200: { description: 'One page.', body: jobListShape } },
      errors: { 400: ['validation_failed'] },
    },
    async handle(ctx) {
      const { page = 1, per_page = PER_PAGE_DEFAULT, include, ...filter } = readQuery(ctx, listQuery);
      const list = await listPage(deps, callerOf(ctx), { page, perPage: per_page, tasks: include === 'tasks', ...filter });
      ctx.body = { data: list.jobs, page, per_page, total: list.total };
    },
  };
}

function cancelRoute(deps: Dependencies): Route {
  return {
    method: 'POST',
    path: '/v1/jobs/{job_id}/cancel',
    access: 'job.write',
    operation: {
      operationId: 'cancelJob',
      tag: 'Jobs',
      summary: 'Cancel a job that has not started converting',
      description: 'Its held credits are released. 409 carries `details.reason`: `processing_cannot_be_cancelled`, or `already_terminal` with the `status`.',
      parameters: jobParameters,
      success: { 200: { description: 'The cancelled job.', body: jobShape } },
      errors: { 404: ['not_found'], 409: ['validation_failed'], 413: ['validation_failed'] },
    },
    async handle(ctx) {
      await discardBody(ctx);
      deps.logGuard.requireWritable();
      ctx.body = await cancelJob(deps, callerOf(ctx), jobIdOf(ctx), ctx.state.requestId);
    },
  };
}

function deleteRoute(deps: Dependencies): Route {
  return {
    method: 'DELETE',
    path: '/v1/jobs/{job_id}',
    access: 'job.write',
    operation: {
      operationId: 'deleteJob',
      tag: 'Jobs',
      summary: 'Delete a job and its files',
      description: 'A job that has not started converting is cancelled first. 404 means that it is deleted already; 409 carries `details.reason` `processing_cannot_be_deleted`.',
      parameters: jobParameters,
      success: { 204: { description: 'The job and its files are gone.' } },
      errors: { 404: ['not_found'], 409: ['validation_failed'], 413: ['validation_failed'] },
    },
    async handle(ctx) {
      await discardBody(ctx);
      deps.logGuard.requireWritable();
      await deleteJob(deps, callerOf(ctx), jobIdOf(ctx), ctx.state.requestId);
      ctx.status = 204;
    },
  };
}
