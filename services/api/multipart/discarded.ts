import { isComposedEtag } from '../../../shared/objects/composed-etag.ts';
import { sourceKey } from '../../../shared/objects/keys.ts';
import type { ObjectHead } from '../../../shared/objects/object-store.ts';
import type { Dependencies } from '../dependencies.ts';
import { ApiError } from '../errors/api-error.ts';

/**
 * Removes a file that was assembled and then discarded before the log knew of it; it would keep every other file out.
 * Only for a job that has just said that it has no assembled file.
 */
export async function removeDiscarded(deps: Dependencies, jobId: string): Promise<void> {
  const head = await findWhole(deps, jobId);
  if (head && isComposedEtag(head.etag)) await deps.objects.remove(sourceKey(jobId));
}

/** The file of a job that is whole already, also where a process died before it had told the store or the log so. */
export async function findWhole(deps: Dependencies, jobId: string): Promise<ObjectHead | undefined> {
  return await deps.objects.bindUpload(sourceKey(jobId), { maxBytes: deps.config.uploadBytesMax });
}

/** 413 with the limit (§7). */
export function fileTooLarge(maxBytes: number): ApiError {
  return ApiError.of(413, 'file_too_large', `The file is larger than ${maxBytes} bytes.`, { max_bytes: maxBytes });
}
