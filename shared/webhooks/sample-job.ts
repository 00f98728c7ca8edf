import { isoTime } from '../clock/clock.ts';
import type { LiveJob } from '../domain/job-state.ts';
import { viewJob, type JobView } from '../domain/job-view.ts';
import { deriveId } from '../ids/ids.ts';
import type { ObjectStore } from '../objects/object-store.ts';
import { resultUrlOf } from '../objects/result-url.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Stand for what a file would have. */
const SHA256 = '0'.repeat(64);
const ETAG = '0'.repeat(32);

/** What a sample follows from; the same gives the same job. `apiKeyId` is the key that asked for it. */
export type SampleOf = { readonly eventId: string; readonly organizationId: string; readonly apiKeyId: string; readonly keyMode: 'live' | 'test'; readonly atMs: number };

/**
 * A finished job that there never was, in the full shape of one (§4.6, D58): from PNG to JPEG, for one credit. Its link
 * is signed like a real one, and no file lies there.
 */
export async function sampleJob(objects: ObjectStore, { eventId, organizationId, apiKeyId, keyMode, atMs }: SampleOf): Promise<JobView> {
  const id = deriveId('sample-job', eventId);
  const credits = keyMode === 'live' ? 1 : 0;
  const job: LiveJob = {
    kind: 'live',
    status: 'finished',
    created: {
      organization_id: organizationId,
      api_key_id: apiKeyId,
      key_mode: keyMode,
      created_at: isoTime(atMs - MINUTE_MS),
      import: 'upload',
      input_format: 'png',
      output_format: 'jpg',
      weight: 1,
      credits_estimated: 1,
      upload_deadline_at: isoTime(atMs),
      expires_at: isoTime(atMs + DAY_MS),
      typed: '',
    },
    source: { size_bytes: 1, sha256: SHA256, etag: ETAG },
    attempt: 1,
    interruptions: 0,
    interrupted: false,
    finish: { attempt: 1, result: { size_bytes: 1, sha256: SHA256, etag: ETAG }, billable_ms: 1, speed_factor: 1, weight: 1, credits_charged: credits, expires_at: isoTime(atMs + DAY_MS) },
  };
  const resultUrl = await resultUrlOf(objects, id, job);
  return viewJob(id, job, { tag: 'sample', task_names: { import: 'import', convert: 'convert', export: 'export' }, ignored_options: [] }, resultUrl === undefined ? {} : { resultUrl }, { tasks: true });
}
