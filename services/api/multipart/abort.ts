import { randomUUID } from 'node:crypto';
import type { KeyContext } from '../../../shared/accounts/accounts-copy.ts';
import { jobDecider, type JobCommand } from '../../../shared/domain/job.ts';
import { sourceKey } from '../../../shared/objects/keys.ts';
import { handle } from '../../../shared/store/handle.ts';
import type { Dependencies } from '../dependencies.ts';
import { originOf } from '../jobs/origin.ts';
import { removeDiscarded } from './discarded.ts';
import { loadUpload } from './load-upload.ts';

/**
 * Discards the unfinished upload (§4.4). The parts go before the log says so: when this process dies in between, the
 * client repeats the request, and no part of the old upload can turn up in the next one. Throws `ApiError` 404,
 * `DomainError`.
 */
export async function abortUpload(deps: Dependencies, caller: KeyContext, jobId: string, requestId: string): Promise<void> {
  const { job } = await loadUpload(deps, caller, jobId);
  const command: JobCommand = { type: 'abort_multipart' };
  jobDecider.decide(command, job);
  await deps.objects.abortMultipart(sourceKey(jobId));
  const { appended } = await handle(deps.store, jobDecider, { kind: 'job', id: jobId }, command, originOf(caller, requestId, randomUUID(), deps.clock.nowMs()));
  if (appended) deps.logWatch.note('JOBS', appended.position);
  await removeDiscarded(deps, jobId);
}
