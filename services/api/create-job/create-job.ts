import type { KeyContext } from '../../../shared/accounts/accounts-copy.ts';
import { isoTime } from '../../../shared/clock/clock.ts';
import type { JobTyped } from '../../../shared/domain/job-view.ts';
import { jobDecider } from '../../../shared/domain/job.ts';
import { Defect } from '../../../shared/errors/errors.ts';
import type { EventData } from '../../../shared/events/registry.ts';
import { deriveId } from '../../../shared/ids/ids.ts';
import { DataKeyDestroyedError, fetchKeyName, jobKeyName } from '../../../shared/privacy/data-keys.ts';
import { sealFetchTerms, type FetchTerms } from '../../../shared/privacy/fetch-terms.ts';
import { tagHmac } from '../../../shared/privacy/tag-hmac.ts';
import { sealTyped } from '../../../shared/privacy/typed.ts';
import type { Dependencies } from '../dependencies.ts';
import { ApiError } from '../errors/api-error.ts';
import { unavailable } from '../errors/to-api-error.ts';
import { originOf } from '../jobs/origin.ts';
import { answerOf, type CreationAnswer } from './creation-answer.ts';
import type { AcceptedRequest } from './validate-request.ts';
import { holdCredits } from './hold-credits.ts';

/** Id of a job that is about to be created, and the Idempotency-Key that its request carried. */
export type NewJob = { readonly jobId: string; readonly idempotency?: EventData<'job.created'>['idempotency'] };

/**
 * Creates a job (§4.3): credits are held first, then `job.created` is appended; a hold whose job never comes into being
 * is released by the ledger. Throws `ApiError` 402 and 429, `TransientError`, and `ConflictError` when the job was given
 * up meanwhile, by the ledger or by a retry with the same Idempotency-Key.
 */
export async function createJob(deps: Dependencies, caller: KeyContext, accepted: AcceptedRequest, requestId: string, { jobId, idempotency }: NewJob): Promise<CreationAnswer> {
  const nowMs = deps.clock.nowMs();
  const typed = typedOf(accepted);
  const createBefore = caller.key_mode === 'live' ? await holdCredits(deps, caller, jobId, accepted.pair.estimate, requestId) : undefined;
  const key = await deps.dataKeys.create(jobKeyName(jobId)).catch(explainLate);
  const { fetch } = accepted.request;
  const sealed = {
    typed: sealTyped(key, caller.organization_id, jobId, typed),
    ...(fetch ? { fetch: await sealFetch(deps, caller, jobId, fetch) } : {}),
  };
  const data = { ...createdData(deps, caller, accepted, nowMs, sealed), ...(idempotency === undefined ? {} : { idempotency }) };
  // Later than this the ledger may have given the credits back, and the job would run without them.
  if (createBefore !== undefined && isoTime(deps.clock.nowMs()) >= createBefore) throw ApiError.of(503, 'internal', 'Creating the job took too long. Try again.', { retryable: true, reason: 'timeout' }, { 'Retry-After': '1' });
  const origin = originOf(caller, requestId, deriveId('job.created', jobId), deps.clock.nowMs());
  const event = jobDecider.decide({ type: 'create', data }, jobDecider.initialState);
  if (event === null) throw new Defect('creating a job did not make one');
  // Nothing to load: the id is new. Version 1 is taken only when this job was given up meanwhile.
  const appended = await deps.store.append({ kind: 'job', id: jobId }, { version: 0 }, event, origin);
  deps.logWatch.note('JOBS', appended.position);
  return answerOf(jobId, data, typed, deps.config.uploadBytesMax);
}

/** What the client typed, as it is kept with the job. */
export function typedOf({ request, tag }: AcceptedRequest): JobTyped {
  return { ...request.typed, ...(tag === undefined ? {} : { tag }) };
}

/** Its key was destroyed before it had one: the ledger has given the job up, because creating it took so long. */
function explainLate(error: unknown): never {
  throw error instanceof DataKeyDestroyedError ? unavailable('credit_service_unavailable') : error;
}

/** Under a key of its own, which is destroyed when the file is there or never will be (§8 URL import rule 2). */
async function sealFetch(deps: Dependencies, caller: KeyContext, jobId: string, fetch: FetchTerms): Promise<string> {
  const key = await deps.dataKeys.create(fetchKeyName(jobId)).catch(explainLate);
  return sealFetchTerms(key, caller.organization_id, jobId, fetch);
}

function createdData(deps: Dependencies, caller: KeyContext, { request, pair, tag }: AcceptedRequest, nowMs: number, sealed: Pick<EventData<'job.created'>, 'typed' | 'fetch'>): EventData<'job.created'> {
  const { config, masterKey } = deps;
  return {
    organization_id: caller.organization_id,
    api_key_id: caller.api_key_id,
    key_mode: caller.key_mode,
    created_at: isoTime(nowMs),
    import: request.fetch ? 'url' : 'upload',
    input_format: pair.input,
    output_format: pair.output,
    weight: pair.weight,
    credits_estimated: pair.estimate,
    ...(tag === undefined ? {} : { tag_hmac: tagHmac(masterKey, caller.organization_id, tag) }),
    ...(request.fetch === undefined ? { upload_url_expires_at: isoTime(nowMs + config.uploadUrlTtlMs) } : {}),
    upload_deadline_at: isoTime(nowMs + config.uploadWindowMs),
    expires_at: isoTime(nowMs + config.resultTtlMs),
    ...sealed,
  };
}
