import { AnswerTooLargeError, EgressError } from '../../../shared/egress/egress-error.ts';
import { fetchUrl } from '../../../shared/egress/fetch.ts';
import { TransientError } from '../../../shared/errors/errors.ts';
import type { EventData } from '../../../shared/events/registry.ts';
import { ObjectChangedError, ObjectExistsError, ObjectNotFoundError, ObjectTooLargeError } from '../../../shared/objects/errors.ts';
import { sourceKey } from '../../../shared/objects/keys.ts';
import type { ObjectRecord } from '../../../shared/objects/object-store.ts';
import { fetchKeyName } from '../../../shared/privacy/data-keys.ts';
import { openFetchTerms, type FetchTerms } from '../../../shared/privacy/fetch-terms.ts';
import type { ImporterContext } from '../context.ts';
import { inspectSource, type Inspection } from '../inspect.ts';
import { rehearsedImportError } from '../rehearsal.ts';
import { SIMULATED_SOURCE } from './simulated-source.ts';

/** A job whose file is to be fetched. */
export type FetchedJob = { readonly id: string; readonly created: EventData<'job.created'> };

/**
 * Brings the file of a job into the object store and says what it turned out to be. A file that an importer stored before
 * it died is whole, and is not fetched again. A fetch that fails is an answer, too. Throws `EgressAbortedError`, and
 * `TransientError` for our own faults, or when the file was taken away again, which only the end of the job does.
 */
export async function fetchSource(context: ImporterContext, job: FetchedJob, signal: AbortSignal): Promise<Inspection> {
  if (job.created.key_mode === 'test') return await simulateFetch(context, job);
  const found = await inspectStored(context, job);
  if (found) return found;
  const { inputBytesMax: maxBytes } = context;
  const terms = await openTerms(context, job);
  if (!terms) return { kind: 'bad', error: { code: 'internal', reason: 'system_error' } };
  try {
    const stored = await fetchUrl(context.egress, { ...terms, maxBytes, signal }, (body) => context.objects.write(sourceKey(job.id), body, { maxBytes }));
    return await requireStored(context, job, stored);
  } catch (error) {
    if (error instanceof EgressError) return { kind: 'bad', error: { code: 'url_import_failed', reason: error.reason } };
    if (error instanceof AnswerTooLargeError || error instanceof ObjectTooLargeError) return { kind: 'bad', error: { code: 'file_too_large', max_bytes: maxBytes } };
    // Another importer was faster, and got other bytes; the first whole file counts.
    if (error instanceof ObjectExistsError) return await requireStored(context, job);
    throw error;
  }
}

/** What a test job's tag asks for, and otherwise as if a file had come; nothing is connected to (D65, D94). */
async function simulateFetch(context: ImporterContext, { id, created }: FetchedJob): Promise<Inspection> {
  const rehearsed = await rehearsedImportError(context, id, created, context.inputBytesMax);
  return rehearsed ? { kind: 'bad', error: rehearsed } : { kind: 'good', source: SIMULATED_SOURCE };
}

async function requireStored(context: ImporterContext, job: FetchedJob, stored?: ObjectRecord): Promise<Inspection> {
  const inspection = await inspectStored(context, job, stored);
  if (!inspection) throw new TransientError('storage', 'a fetched file is not there any more');
  return inspection;
}

/** What is stored for the job already; undefined when there is nothing. */
async function inspectStored({ objects, inputBytesMax }: ImporterContext, { id, created }: FetchedJob, stored?: ObjectRecord): Promise<Inspection | undefined> {
  try {
    const head = await objects.head(sourceKey(id));
    return head ? await inspectSource(objects, sourceKey(id), head, { inputFormat: created.input_format, maxBytes: inputBytesMax, ...(stored ? { stored } : {}) }) : undefined;
  } catch (error) {
    if (error instanceof ObjectNotFoundError || error instanceof ObjectChangedError) return undefined;
    throw error;
  }
}

/** Undefined when the key is destroyed: the job has ended. */
async function openTerms({ dataKeys }: ImporterContext, { id, created }: FetchedJob): Promise<FetchTerms | undefined> {
  const key = created.fetch === undefined ? undefined : await dataKeys.get(fetchKeyName(id));
  return key && created.fetch !== undefined ? openFetchTerms(key, created.organization_id, id, created.fetch) : undefined;
}
