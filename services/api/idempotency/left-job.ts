import type { KeyContext } from '../../../shared/accounts/accounts-copy.ts';
import { jobDecider } from '../../../shared/domain/job.ts';
import { Defect } from '../../../shared/errors/errors.ts';
import type { EventData } from '../../../shared/events/registry.ts';
import { deriveId } from '../../../shared/ids/ids.ts';
import { handle } from '../../../shared/store/handle.ts';
import type { JsonObject } from '../body/read-body.ts';
import { typedOf } from '../create-job/create-job.ts';
import { answerOf, type CreationAnswer } from '../create-job/creation-answer.ts';
import { validateRequest } from '../create-job/validate-request.ts';
import type { Dependencies } from '../dependencies.ts';
import { originOf } from '../jobs/origin.ts';
import type { KeyedRequest } from './keyed-request.ts';
import { differentBody } from './refusals.ts';

/**
 * Finds out what became of a request that left its note behind, and makes sure that it stays so: its job was created,
 * or its job is given up now and never can be (D82). Answers what the request would have been answered, or undefined
 * when there is no job. Throws `ApiError` 422 when the job was created by another body, `TransientError`.
 */
export async function findLeftJob(deps: Dependencies, caller: KeyContext, jobId: string, mark: KeyedRequest['mark'], body: JsonObject, requestId: string): Promise<CreationAnswer | undefined> {
  const origin = originOf(caller, requestId, deriveId('abandon', jobId), deps.clock.nowMs());
  const { events, appended } = await handle(deps.store, jobDecider, { kind: 'job', id: jobId }, { type: 'abandon' }, origin);
  if (appended) deps.logWatch.note('JOBS', appended.position);
  const first = events[0]?.event;
  if (first?.type !== 'job.created') return undefined;
  requireMark(first.data.idempotency, mark);
  // The same body says the same once more, also after the job's own key was destroyed (D36), or a converter left.
  const rules = { isAllowedAddress: deps.config.isAllowedAddress, isOffered: () => true };
  return answerOf(jobId, first.data, typedOf(validateRequest(body, caller.key_mode, rules)), deps.config.uploadBytesMax);
}

function requireMark(created: EventData<'job.created'>['idempotency'], mark: KeyedRequest['mark']): void {
  if (created?.key_hash !== mark.key_hash) throw new Defect('a note of an Idempotency-Key names a job that was created without it');
  if (created.fingerprint !== mark.fingerprint) throw differentBody();
}
