import { NO_TRIGGERS, parseTestTriggers, type TestTriggers } from '../domain/test-triggers.ts';
import type { EventData } from '../events/registry.ts';
import { jobKeyName, type DataKeys } from './data-keys.ts';
import { openTyped } from './typed.ts';

/**
 * What the tag of a test job asks for (D65); nothing for a live job, whose tag is only a tag, and for a job that was
 * deleted. Throws `TransientError` when the key store is away.
 */
export async function openTestTriggers(dataKeys: DataKeys, jobId: string, created: EventData<'job.created'>): Promise<TestTriggers> {
  if (created.key_mode !== 'test') return NO_TRIGGERS;
  const key = await dataKeys.get(jobKeyName(jobId));
  if (!key) return NO_TRIGGERS;
  const parsed = parseTestTriggers(openTyped(key, created.organization_id, jobId, created.typed).tag);
  // Checked when the job was created; a trigger that has been taken away since then does nothing.
  return 'triggers' in parsed ? parsed.triggers : NO_TRIGGERS;
}
