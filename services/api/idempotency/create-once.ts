import type { KeyContext } from '../../../shared/accounts/accounts-copy.ts';
import { isoTime } from '../../../shared/clock/clock.ts';
import { newId } from '../../../shared/ids/ids.ts';
import type { JsonObject } from '../body/read-body.ts';
import { admitRequest } from '../create-job/admit-request.ts';
import { createJob } from '../create-job/create-job.ts';
import type { CreationAnswer } from '../create-job/creation-answer.ts';
import type { Dependencies } from '../dependencies.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Noted } from './bucket.ts';
import type { RunningEntry } from './entry.ts';
import { keyedRequest, type KeyedRequest } from './keyed-request.ts';
import { differentBody, stillRunning } from './refusals.ts';
import { openAnswer, sealAnswer } from './sealed-answer.ts';
import { findLeftJob } from './left-job.ts';

/**
 * A request that has not ended after this time, in ms, hangs or its process died, and a retry takes its place: the
 * ledger answers within five seconds, and the log elects a leader within eight. Nothing breaks when it was alive.
 */
export const LEASE_MS = 15_000;
/** How often the note of a key is looked at anew because others changed it just then. */
const LOOKS_MAX = 3;

/** One try to create a job under an Idempotency-Key. */
type Try = { readonly deps: Dependencies; readonly caller: KeyContext; readonly request: KeyedRequest; readonly body: JsonObject; readonly requestId: string };
/** The answer, and whether an earlier request was given it already. */
type Once = { readonly answer: CreationAnswer; readonly isReplay: boolean };
/** The key is ours to use for `jobId`; `revision` is that of our note. */
type Reserved = { readonly jobId: string; readonly revision: number };

/**
 * Creates a job at most once for each Idempotency-Key of an API key (§8 Idempotency): a repeated request gets the first
 * one's answer. Throws `ApiError` 409 while that is under way, 422 for another body, and what `createJob` throws, after
 * which the key is free.
 */
export async function createOnce(deps: Dependencies, caller: KeyContext, key: string, body: JsonObject, requestId: string): Promise<Once> {
  const tried: Try = { deps, caller, request: keyedRequest(deps.masterKey, caller.api_key_id, key, body), body, requestId };
  const reserved = await reserve(tried);
  if ('job' in reserved) return { answer: reserved, isReplay: true };
  let hasBegun = false;
  try {
    const accepted = await admitRequest(deps, caller, body);
    hasBegun = true;
    const answer = await createJob(deps, caller, accepted, requestId, { jobId: reserved.jobId, idempotency: tried.request.mark });
    await remember(tried, answer, reserved.revision);
    return { answer, isReplay: false };
  } catch (error) {
    await giveBack(tried, reserved, hasBegun && !isRefusal(error));
    throw error;
  }
}

/** Notes that this request runs, or finds the answer of an earlier one. */
async function reserve(tried: Try): Promise<Reserved | CreationAnswer> {
  const { deps, request } = tried;
  const jobId = newId(deps.clock.nowMs());
  let noted: Noted = { revision: 0 };
  for (let look = 1; look <= LOOKS_MAX; look += 1) {
    const found = await answerFor(tried, noted);
    if (found) return found;
    const revision = await deps.idempotency.write(request.place, noted.revision, runningEntry(tried, jobId, LEASE_MS));
    if (revision !== undefined) return { jobId, revision };
    noted = await deps.idempotency.read(request.place);
  }
  throw stillRunning();
}

/** What is to be answered because of an earlier request; undefined when this one may run. */
async function answerFor(tried: Try, { revision, entry }: Noted): Promise<CreationAnswer | undefined> {
  if (!entry) return undefined;
  const { deps, caller, request } = tried;
  if (entry.state === 'running') {
    if (isoTime(deps.clock.nowMs()) < entry.lease_until) throw stillRunning();
    const answer = await findLeftJob(deps, caller, entry.job_id, request.mark, tried.body, tried.requestId);
    if (answer) await remember(tried, answer, revision);
    return answer;
  }
  if (entry.fingerprint !== request.mark.fingerprint) throw differentBody();
  return openAnswer(request.sealKey, entry.job_id, entry.answer);
}

/** Keeps the answer for those who ask again. Without it they find the job in the log when the lease is over. */
async function remember({ deps, request, requestId }: Try, answer: CreationAnswer, revision: number): Promise<void> {
  const entry = { state: 'done', fingerprint: request.mark.fingerprint, job_id: answer.job.id, answer: sealAnswer(request.sealKey, answer) } as const;
  await deps.idempotency.write(request.place, revision, entry).catch((error: unknown) => deps.logger.warn({ err: error, request_id: requestId, job_id: answer.job.id }, 'could not keep an answer for its Idempotency-Key'));
}

/**
 * Frees the key of a request that failed (§8): its note goes. Where it may have left a hold or even a job behind, the
 * note stays with its lease over, and whoever comes next looks in the log.
 */
async function giveBack(tried: Try, { jobId, revision }: Reserved, isUnclear: boolean): Promise<void> {
  const { deps, request, requestId } = tried;
  try {
    await (isUnclear ? deps.idempotency.write(request.place, revision, runningEntry(tried, jobId, 0)) : deps.idempotency.remove(revision));
  } catch (error) {
    deps.logger.warn({ err: error, request_id: requestId, job_id: jobId }, 'could not free an Idempotency-Key; it is free when its lease is over');
  }
}

/** True when the request was answered 4xx, so that nothing was held and no job created. */
function isRefusal(failure: unknown): boolean {
  return failure instanceof ApiError && failure.status < 500;
}

function runningEntry({ deps, request }: Try, jobId: string, leaseMs: number): RunningEntry {
  return { state: 'running', fingerprint: request.mark.fingerprint, job_id: jobId, lease_until: isoTime(deps.clock.nowMs() + leaseMs) };
}
