import type { ShownTyped } from '../domain/job-view.ts';
import type { EventData } from '../events/registry.ts';
import { jobKeyName, type DataKeys } from '../privacy/data-keys.ts';
import { openTyped } from '../privacy/typed.ts';

/** What the body of an event shows of what the client typed; undefined when the job was deleted and that is forgotten already. Throws `TransientError`. */
export async function openShown(dataKeys: DataKeys, jobId: string, created: EventData<'job.created'>): Promise<ShownTyped | undefined> {
  const key = await dataKeys.get(jobKeyName(jobId));
  if (!key) return undefined;
  const { options: _options, ...shown } = openTyped(key, created.organization_id, jobId, created.typed);
  return shown;
}
