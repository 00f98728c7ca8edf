import type { LiveJob } from '../../../shared/domain/job-state.ts';
import { TransientError } from '../../../shared/errors/errors.ts';
import { requestObserve } from '../../../shared/importer-client/importer-client.ts';
import { sourceKey } from '../../../shared/objects/keys.ts';
import type { Dependencies } from '../dependencies.ts';
import { inTime } from '../files/in-time.ts';

/** How long a read waits for the importer to look at a file, in ms; hashing 100 MB takes well under a second. */
const OBSERVE_MS_MAX = 3_000;

/** True when the job waits for a client's upload. `job` comes from `jobAt`. */
export function awaitsUpload(job: LiveJob): boolean {
  return job.status === 'waiting' && job.created.import === 'upload';
}

/**
 * Reading a job that waits for its file makes the service look for it (§3, D32). True when the file was there and the
 * importer has looked at it, so that the job should be read again. Never fails: the sweep looks again later.
 */
export async function observeUpload(deps: Dependencies, jobId: string, job: LiveJob): Promise<boolean> {
  if (!awaitsUpload(job)) return false;
  try {
    // A store that stands still must not keep a job from being read.
    if (!(await inTime(deps.objects.hasUpload(sourceKey(jobId))))) return false;
    await requestObserve(deps.nc, jobId, OBSERVE_MS_MAX);
    return true;
  } catch (error) {
    if (!(error instanceof TransientError)) throw error;
    deps.logger.warn({ err: error, job_id: jobId }, 'could not look for an upload; the importer looks again by itself');
    return false;
  }
}
