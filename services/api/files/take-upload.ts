import { isoTime } from '../../../shared/clock/clock.ts';
import { TERMINAL_STATUSES } from '../../../shared/domain/job-state.ts';
import { jobAt } from '../../../shared/domain/job-view.ts';
import { TransientError } from '../../../shared/errors/errors.ts';
import { requestObserve } from '../../../shared/importer-client/importer-client.ts';
import type { ObjectKey } from '../../../shared/objects/keys.ts';
import type { FileLink } from '../../../shared/objects/links.ts';
import type { ObjectRecord } from '../../../shared/objects/object-store.ts';
import { receiveUpload } from '../../../shared/objects/receive-upload.ts';
import type { Dependencies } from '../dependencies.ts';
import { ApiError } from '../errors/api-error.ts';
import type { ApiContext } from '../http/context.ts';
import { foldJob, jobIdOf } from '../jobs/load-job.ts';
import { linkOf } from './link.ts';
import { declaredLength, receiveBody } from './receive-body.ts';

/** How long the importer may take to look at the file, in ms; nobody waits for it here. */
const OBSERVE_MS_MAX = 10_000;

/**
 * Stores the file of a job that waits for it (§4.5). The first complete upload counts (D46). Throws `ApiError` 403 for
 * an expired link, 404, 409, `DomainError` for what the store refuses.
 */
export async function takeUpload(deps: Dependencies, ctx: ApiContext): Promise<void> {
  deps.logGuard.requireWritable();
  const link = linkOf(deps, ctx);
  if (link === 'expired') throw ApiError.of(403, 'unauthorized', 'This upload URL has expired. Create a new job.', { reason: 'url_expired' });
  if (link === 'forged' || link.operation !== 'upload') throw ApiError.notFound('There is no such upload URL.');
  const jobId = jobIdOf(ctx);
  await requireWaiting(deps, jobId);
  const stored = await receive(deps, ctx, link);
  await refuseWhenOver(deps, jobId, link.key, stored.etag);
  void tellImporter(deps, jobId);
  ctx.set('ETag', `"${stored.etag}"`);
  ctx.status = 200;
  ctx.body = '';
}

async function receive(deps: Dependencies, ctx: ApiContext, link: Extract<FileLink, { operation: 'upload' }>): Promise<ObjectRecord> {
  const declaredBytes = declaredLength(ctx);
  // What is known to be too long is refused before the client is told to go on.
  const isWelcome = declaredBytes === undefined || declaredBytes <= link.maxBytes;
  return await deps.uploadsInHand.alone(link.key, () =>
    receiveBody(ctx, isWelcome, () => receiveUpload(deps.objects, link.key, ctx.req, { declaredBytes, maxBytes: link.maxBytes })),
  );
}

async function requireWaiting(deps: Dependencies, jobId: string): Promise<void> {
  const job = await foldJob(deps, jobId);
  if (!job) throw ApiError.notFound();
  const { status } = jobAt(job, isoTime(deps.clock.nowMs()));
  if (job.multipart?.completed) throw ApiError.of(409, 'validation_failed', 'The file was uploaded in parts.', { reason: 'already_uploaded', status });
  if (status === 'waiting') return;
  throw ApiError.of(409, 'validation_failed', `The job is ${status}; its file is fixed.`, { reason: 'not_waiting', status });
}

/**
 * A job that took another file, or ended while this one was on its way, needs none of it; its clean-up may have been
 * before us. Otherwise this is the file of the job.
 */
async function refuseWhenOver(deps: Dependencies, jobId: string, key: ObjectKey, etag: string): Promise<void> {
  const found = await foldJob(deps, jobId);
  const job = found && jobAt(found, isoTime(deps.clock.nowMs()));
  if (job && (job.source ? job.source.etag === etag : !TERMINAL_STATUSES.has(job.status))) return;
  await deps.objects.remove(key);
  if (!job) throw ApiError.notFound();
  throw ApiError.of(409, 'validation_failed', `The job is ${job.status}; its file is fixed.`, { reason: 'not_waiting', status: job.status });
}

/** The client need not wait for this, and the importer finds the file by itself if it does not hear of it now. */
async function tellImporter(deps: Dependencies, jobId: string): Promise<void> {
  try {
    await requestObserve(deps.nc, jobId, OBSERVE_MS_MAX);
  } catch (error) {
    const level = error instanceof TransientError ? 'warn' : 'error';
    deps.logger[level]({ err: error, job_id: jobId }, 'could not tell the importer of an upload');
  }
}
