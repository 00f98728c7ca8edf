import { randomUUID } from 'node:crypto';
import type { KeyContext } from '../../../shared/accounts/accounts-copy.ts';
import { isoTime } from '../../../shared/clock/clock.ts';
import { jobDecider, type JobCommand } from '../../../shared/domain/job.ts';
import type { LiveJob } from '../../../shared/domain/job-state.ts';
import { jobAt } from '../../../shared/domain/job-view.ts';
import { planMultipart } from '../../../shared/domain/multipart.ts';
import { Defect } from '../../../shared/errors/errors.ts';
import { deriveId } from '../../../shared/ids/ids.ts';
import { sourceKey } from '../../../shared/objects/keys.ts';
import { handle } from '../../../shared/store/handle.ts';
import type { Dependencies } from '../dependencies.ts';
import { loadVisibleJob } from '../jobs/load-job.ts';
import { originOf } from '../jobs/origin.ts';
import { fileTooLarge, removeDiscarded } from './discarded.ts';

/** The upload as its client sees it (§2.5). */
export type Descriptor = { readonly upload_id: string; readonly part_size: number; readonly parts_expected: number };

/**
 * Starts an upload in parts, or answers the one that was started (§4.4, D43). The log decides which it is; only then the
 * store opens its own upload, which every later request finds or opens again. Throws `ApiError` 404 and 413,
 * `DomainError` for a job of another kind or that does not wait.
 */
export async function startUpload(deps: Dependencies, caller: KeyContext, jobId: string, sizeBytes: number, requestId: string): Promise<{ readonly isNew: boolean; readonly descriptor: Descriptor }> {
  const job = jobAt(await loadVisibleJob(deps, caller, jobId), isoTime(deps.clock.nowMs()));
  const { inputBytesMax } = deps.config;
  if (job.created.import === 'upload' && !job.multipart && sizeBytes > inputBytesMax) throw fileTooLarge(inputBytesMax);
  const command: JobCommand = { type: 'start_multipart', plan: planMultipart(sizeBytes) };
  // As the clock sees it: the event of a passed deadline may still be on its way (D39).
  jobDecider.decide(command, job);
  const { state, appended } = await handle(deps.store, jobDecider, { kind: 'job', id: jobId }, command, originOf(caller, requestId, randomUUID(), deps.clock.nowMs()));
  if (state.kind !== 'live') throw new Defect('a job that started an upload is not there');
  if (appended) {
    deps.logWatch.note('JOBS', appended.position);
    await removeDiscarded(deps, jobId);
  }
  if (!state.multipart?.completed) await deps.objects.openMultipart(sourceKey(jobId));
  return { isNew: appended !== undefined, descriptor: describe(jobId, state) };
}

/** The id is derived, so that the storage's own id stays out of the log and a repeat names the same upload. */
function describe(jobId: string, { multipart, multipartStarts = 0 }: LiveJob): Descriptor {
  if (!multipart) throw new Defect('an upload that was started is not there');
  return { upload_id: deriveId('multipart', jobId, multipartStarts), part_size: multipart.part_size, parts_expected: multipart.parts_expected };
}
