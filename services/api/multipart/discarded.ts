import { isComposedEtag } from '../../../shared/objects/composed-etag.ts';
import { sourceKey } from '../../../shared/objects/keys.ts';
import type { Dependencies } from '../dependencies.ts';
import { ApiError } from '../errors/api-error.ts';

/**
 * Removes a file that was assembled and then discarded before the log knew of it; it would keep every other file out.
 * Only for a job that has just said that it has no assembled file.
 */
export async function removeDiscarded(deps: Dependencies, jobId: string): Promise<void> {
  const key = sourceKey(jobId);
  const head = await deps.objects.head(key);
  if (head && isComposedEtag(head.etag)) await deps.objects.remove(key);
}

/** 413 with the limit (§7). */
export function fileTooLarge(maxBytes: number): ApiError {
  return ApiError.of(413, 'file_too_large', `The file is larger than ${maxBytes} bytes.`, { max_bytes: maxBytes });
}
