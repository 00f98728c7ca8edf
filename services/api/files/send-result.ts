import { isoTime } from '../../../shared/clock/clock.ts';
import { jobAt } from '../../../shared/domain/job-view.ts';
import { resultKey } from '../../../shared/objects/keys.ts';
import type { FileLink } from '../../../shared/objects/links.ts';
import { parseRange, type ByteRange } from '../../../shared/objects/range.ts';
import type { Dependencies } from '../dependencies.ts';
import { ApiError } from '../errors/api-error.ts';
import type { ApiContext } from '../http/context.ts';
import { foldJob, jobIdOf } from '../jobs/load-job.ts';
import { linkOf } from './link.ts';

type DownloadLink = Extract<FileLink, { operation: 'download' }>;

/** A result is somebody else's bytes on our address: a browser may show it, but it may not run anything (D92). */
const CONTENT_SECURITY_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/**
 * Sends a result, or a range of it, with the headers that its link was signed for (D92). Throws `ApiError` 404 once the
 * job has expired or was deleted, even where the file still lies (D36, D39).
 */
export async function sendResult(deps: Dependencies, ctx: ApiContext): Promise<void> {
  const link = linkOf(deps, ctx);
  if (link === 'forged' || link === 'expired' || link.operation !== 'download') throw gone();
  await requireKept(deps, jobIdOf(ctx), link);
  const head = await deps.objects.head(link.key);
  if (!head) throw gone();
  const etag = `"${head.etag}"`;
  if (namesTag(ctx.headers['if-none-match'], etag)) {
    ctx.set('ETag', etag);
    ctx.status = 304;
    return;
  }
  const range = rangeOf(ctx, etag, head.size_bytes);
  ctx.status = range ? 206 : 200;
  if (ctx.method !== 'HEAD') ctx.body = await deps.objects.read(link.key, { ifMatch: head.etag, ...(range ? { range } : {}) });
  // After the body, which sets a type and forgets the length; and after all that can fail, or an error would carry them.
  ctx.set(headersOf(link, etag));
  if (range) ctx.set('Content-Range', `bytes ${range.start}-${range.end}/${head.size_bytes}`);
  ctx.length = range ? range.end - range.start + 1 : head.size_bytes;
}

function headersOf(link: DownloadLink, etag: string): Record<string, string> {
  return {
    ETag: etag,
    'Accept-Ranges': 'bytes',
    'Content-Type': link.contentType,
    'Content-Disposition': link.disposition,
    'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  };
}

async function requireKept(deps: Dependencies, jobId: string, link: FileLink): Promise<void> {
  const job = await foldJob(deps, jobId);
  const current = job && jobAt(job, isoTime(deps.clock.nowMs()));
  const isKept = current?.status === 'finished' && current.finish !== undefined && link.key === resultKey(jobId, current.finish.attempt);
  if (!isKept) throw gone();
}

/** `If-Range` asks for the whole file when it is not the one the client has a part of. */
function rangeOf(ctx: ApiContext, etag: string, sizeBytes: number): ByteRange | undefined {
  const ifRange = ctx.headers['if-range'];
  if (ctx.method === 'HEAD' || (ifRange !== undefined && ifRange !== etag)) return undefined;
  const range = parseRange(ctx.headers.range, sizeBytes);
  if (range !== 'unsatisfiable') return range;
  throw ApiError.of(416, 'validation_failed', `The file has ${sizeBytes} bytes.`, { reason: 'range_not_satisfiable' }, { 'Content-Range': `bytes */${sizeBytes}` });
}

function namesTag(header: string | undefined, etag: string): boolean {
  return header !== undefined && (header.trim() === '*' || header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag));
}

function gone(): ApiError {
  return ApiError.notFound('There is no such result, or it is no longer kept.');
}
