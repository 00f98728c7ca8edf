import { isoTime } from '../../../shared/clock/clock.ts';
import { jobAt } from '../../../shared/domain/job-view.ts';
import { MultipartNotFoundError } from '../../../shared/objects/errors.ts';
import type { Dependencies } from '../dependencies.ts';
import { ApiError } from '../errors/api-error.ts';
import type { ApiContext } from '../http/context.ts';
import { foldJob, jobIdOf } from '../jobs/load-job.ts';
import { linkOf } from './link.ts';
import { declaredLength, receiveBody } from './receive-body.ts';

/**
 * Stores one part of a file (§4.4); sent again it takes the place of the one before. The link names the upload, so that
 * a part of one that was discarded goes nowhere. Throws `ApiError` 403 for a link that is expired or not ours, 404, 409,
 * 411 and 413, `DomainError` for what the store refuses.
 */
export async function takePart(deps: Dependencies, ctx: ApiContext): Promise<void> {
  deps.logGuard.requireWritable();
  const link = linkOf(deps, ctx);
  if (link === 'expired') throw ApiError.of(403, 'unauthorized', 'This part URL has expired. Ask for another one.', { reason: 'url_expired' });
  if (link === 'forged' || link.operation !== 'part') throw ApiError.of(403, 'unauthorized', 'This is not a part URL as it was given.', { reason: 'url_invalid' });
  await requireOpen(deps, jobIdOf(ctx));
  requireLength(ctx, link.sizeBytes);
  const part = await deps.uploadsInHand.alone(`${link.key} ${link.uploadId} ${link.partNumber}`, () =>
    receiveBody(ctx, true, () => deps.objects.writePart(link.key, link.uploadId, link, ctx.req)),
  );
  ctx.set('ETag', `"${part.etag}"`);
  ctx.status = 200;
  ctx.body = '';
}

async function requireOpen(deps: Dependencies, jobId: string): Promise<void> {
  const found = await foldJob(deps, jobId);
  if (!found) throw ApiError.notFound();
  const job = jobAt(found, isoTime(deps.clock.nowMs()));
  if (job.status !== 'waiting') throw ApiError.of(409, 'validation_failed', `The job is ${job.status}; its file is fixed.`, { reason: 'not_waiting', status: job.status });
  if (!job.multipart) throw new MultipartNotFoundError();
  if (job.multipart.completed) throw ApiError.of(409, 'validation_failed', 'The upload was completed.', { reason: 'already_uploaded', status: job.status });
}

/** A part is exactly as long as its URL says, and says so itself: a part that broke off would look like a short one. */
function requireLength(ctx: ApiContext, sizeBytes: number): void {
  const declaredBytes = declaredLength(ctx);
  if (declaredBytes === undefined) throw ApiError.of(411, 'validation_failed', 'A part needs a Content-Length.', { reason: 'length_required' });
  if (declaredBytes > sizeBytes) throw ApiError.of(413, 'file_too_large', `This part has ${sizeBytes} bytes.`, { max_bytes: sizeBytes });
  if (declaredBytes < sizeBytes) throw ApiError.of(400, 'validation_failed', `This part has ${sizeBytes} bytes.`, { reason: 'wrong_part_size', size_bytes: sizeBytes });
}
