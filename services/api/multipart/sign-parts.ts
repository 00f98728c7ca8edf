import type { KeyContext } from '../../../shared/accounts/accounts-copy.ts';
import { isoTime } from '../../../shared/clock/clock.ts';
import { partBytes, requireUnfinished } from '../../../shared/domain/multipart.ts';
import { sourceKey } from '../../../shared/objects/keys.ts';
import type { Dependencies } from '../dependencies.ts';
import { ApiError } from '../errors/api-error.ts';
import { loadUpload } from './load-upload.ts';

/** URL of one part (§4.4). */
export type PartUrl = { readonly part_number: number; readonly url: string; readonly expires_at: string };

/**
 * URLs for some parts, in the order asked for. They work for a quarter of an hour, but not beyond the time in which the
 * file may come (D40). Throws `ApiError` 404 and 400 for numbers that the upload has not, `DomainError`.
 */
export async function signParts(deps: Dependencies, caller: KeyContext, jobId: string, partNumbers: readonly number[]): Promise<readonly PartUrl[]> {
  const { job, multipart } = await loadUpload(deps, caller, jobId);
  const issues = [...partNumbers.entries()].filter(([, number]) => number > multipart.parts_expected);
  if (issues.length > 0) throw ApiError.issues(issues.map(([index]) => ({ path: `part_numbers.${index}`, message: `must be from 1 to ${multipart.parts_expected}` })));
  requireUnfinished(job);
  const key = sourceKey(jobId);
  const uploadId = await deps.objects.openMultipart(key);
  const expiresAtMs = Math.min(deps.clock.nowMs() + deps.config.partUrlTtlMs, Date.parse(job.created.upload_deadline_at));
  const expires_at = isoTime(expiresAtMs);
  return await Promise.all(partNumbers.map(async (number) => {
    const url = await deps.objects.signPart(key, uploadId, { partNumber: number, sizeBytes: partBytes(multipart, number), expiresAtMs });
    return { part_number: number, url, expires_at };
  }));
}
