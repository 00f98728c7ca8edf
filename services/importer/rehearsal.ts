import type { EventData } from '../../shared/events/registry.ts';
import { openTestTriggers } from '../../shared/privacy/test-triggers.ts';
import type { ImporterContext } from './context.ts';

/**
 * The error with which a test job's import is to fail, by its tag (D65); undefined for every other job. `maxBytes` is
 * the limit that a file which is too large would have met. Throws `TransientError`.
 */
export async function rehearsedImportError(context: Pick<ImporterContext, 'dataKeys'>, jobId: string, created: EventData<'job.created'>, maxBytes: number): Promise<EventData<'job.failed'>['error'] | undefined> {
  const { importError } = await openTestTriggers(context.dataKeys, jobId, created);
  return importError?.code === 'file_too_large' ? { ...importError, max_bytes: maxBytes } : importError;
}
