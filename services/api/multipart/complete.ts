import { randomUUID } from 'node:crypto';
import type { KeyContext } from '../../../shared/accounts/accounts-copy.ts';
import type { LiveJob } from '../../../shared/domain/job-state.ts';
import { jobDecider } from '../../../shared/domain/job.ts';
import { refuse } from '../../../shared/domain/job-refusal.ts';
import { requireUnfinished } from '../../../shared/domain/multipart.ts';
import { Defect, DomainError } from '../../../shared/errors/errors.ts';
import type { Origin } from '../../../shared/events/envelope.ts';
import { composeEtag, inOrder } from '../../../shared/objects/composed-etag.ts';
import { MultipartNotFoundError, ObjectExistsError, PartMismatchError } from '../../../shared/objects/errors.ts';
import { sourceKey } from '../../../shared/objects/keys.ts';
import type { NamedPart, ObjectHead } from '../../../shared/objects/object-store.ts';
import { openTestTriggers } from '../../../shared/privacy/test-triggers.ts';
import { handle } from '../../../shared/store/handle.ts';
import type { Dependencies } from '../dependencies.ts';
import { ApiError } from '../errors/api-error.ts';
import { foldJob } from '../jobs/load-job.ts';
import { originOf } from '../jobs/origin.ts';
import { findPartIssues, requireEveryPart } from './check-parts.ts';
import { fileTooLarge, findWhole } from './discarded.ts';
import { loadUpload, type Upload } from './load-upload.ts';

/**
 * Assembles the parts (§4.4). The store makes the file first, then the log says so; a request that broke off anywhere
 * can be repeated, and one that went well is answered the same for ever (D45). The importer hears of it from the log.
 * Throws `ApiError` 400 with issues, 404, 409, 413, and `DomainError`.
 */
export async function completeUpload(deps: Dependencies, caller: KeyContext, jobId: string, parts: readonly NamedPart[], requestId: string): Promise<number> {
  const before = answerAgain(await loadUpload(deps, caller, jobId), parts);
  if (before !== undefined) return before;
  const stored = await deps.objects.listParts(sourceKey(jobId));
  // Parts go when the job ends, takes another file, discards them, or has just been completed by another request; so what
  // became of the job is looked at after them.
  const meanwhile = await loadUpload(deps, caller, jobId);
  const answered = answerAgain(meanwhile, parts);
  if (answered !== undefined) return answered;
  const issues = findPartIssues(meanwhile.multipart, parts, stored);
  // A request that broke off after the file was made, or that is a moment ahead of this one, left no parts.
  if (issues.length > 0 && (await findWhole(deps, jobId))?.etag !== composeEtag(parts)) throw ApiError.issues(issues);
  const origin = originOf(caller, requestId, randomUUID(), deps.clock.nowMs());
  if (meanwhile.multipart.size_bytes > deps.config.inputBytesMax || (await isToBeTooLarge(deps, jobId, meanwhile.job))) {
    await failTooLarge(deps, jobId, origin);
    // Read again, so that of several requests at once each gets the answer that a repeat would get.
    const ended = answerAgain(await loadUpload(deps, caller, jobId), parts);
    if (ended !== undefined) return ended;
  }
  const head = await deps.objects.completeMultipart(sourceKey(jobId), inOrder(parts)).catch((error: unknown) => explain(deps, jobId, parts, error));
  // The parts have their sizes, so the file has its own; another one would be somebody else's.
  if (head.size_bytes !== meanwhile.multipart.size_bytes) throw new Defect('an assembled file has another size than its parts');
  await announce(deps, jobId, head, origin);
  return head.size_bytes;
}

/** What an earlier request was answered; undefined when the upload can still be completed. Throws when it cannot, with these parts or any. */
function answerAgain({ job, multipart }: Upload, parts: readonly NamedPart[]): number | undefined {
  requireEveryPart(multipart, parts);
  if (multipart.completed) {
    if (multipart.completed.etag === composeEtag(parts)) return multipart.completed.size_bytes;
    throw ApiError.issues([{ path: 'parts', message: 'are not those with which the upload was completed' }]);
  }
  if (job.error?.code === 'file_too_large' && job.error.max_bytes !== undefined) throw fileTooLarge(job.error.max_bytes);
  requireUnfinished(job);
  return undefined;
}

/** A test job may ask for this end, whatever its size (D65). */
async function isToBeTooLarge(deps: Dependencies, jobId: string, { created }: LiveJob): Promise<boolean> {
  return (await openTestTriggers(deps.dataKeys, jobId, created)).importError?.code === 'file_too_large';
}

/** The limit was lowered while the parts came in: the job cannot go on (§3). */
async function failTooLarge(deps: Dependencies, jobId: string, origin: Origin): Promise<void> {
  const error = { code: 'file_too_large', max_bytes: deps.config.inputBytesMax } as const;
  try {
    const { appended } = await handle(deps.store, jobDecider, { kind: 'job', id: jobId }, { type: 'fail', error }, origin);
    if (appended) deps.logWatch.note('JOBS', appended.position);
  } catch (refusal) {
    // Another request was a moment ahead, or the job has ended otherwise.
    if (!(refusal instanceof DomainError)) throw refusal;
  }
}

async function explain(deps: Dependencies, jobId: string, parts: readonly NamedPart[], error: unknown): Promise<never> {
  if (error instanceof PartMismatchError) {
    const index = parts.findIndex(({ part_number }) => part_number === error.details['part_number']);
    throw ApiError.issues([{ path: `parts.${index}.etag`, message: 'is not that of the part that was uploaded last' }]);
  }
  if (error instanceof MultipartNotFoundError) throw new DomainError('multipart_not_started', 'The multipart upload was discarded.');
  // The single upload was whole first (D46).
  if (!(error instanceof ObjectExistsError)) throw error;
  await deps.objects.abortMultipart(sourceKey(jobId));
  throw refuse('already_uploaded', 'Another file was whole first.', await foldJob(deps, jobId));
}

async function announce(deps: Dependencies, jobId: string, { size_bytes, etag }: ObjectHead, origin: Origin): Promise<void> {
  try {
    const { appended } = await handle(deps.store, jobDecider, { kind: 'job', id: jobId }, { type: 'complete_multipart', file: { size_bytes, etag } }, origin);
    if (appended) deps.logWatch.note('JOBS', appended.position);
  } catch (error) {
    if (error instanceof DomainError) await removeUnneeded(deps, jobId);
    throw error;
  }
}

/** The job ended, or the upload was discarded, while the file was made; its clean-up may have been before us. */
async function removeUnneeded(deps: Dependencies, jobId: string): Promise<void> {
  const job = await foldJob(deps, jobId);
  if (job?.source || job?.multipart?.completed) return;
  await deps.objects.remove(sourceKey(jobId));
}
