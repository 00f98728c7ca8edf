import type { KeyContext } from '../../../shared/accounts/accounts-copy.ts';
import { isoTime } from '../../../shared/clock/clock.ts';
import { TERMINAL_STATUSES, type LiveJob } from '../../../shared/domain/job-state.ts';
import { jobAt } from '../../../shared/domain/job-view.ts';
import type { Dependencies } from '../dependencies.ts';
import { loadVisibleJob } from '../jobs/load-job.ts';
import { awaitsUpload, observeUpload } from '../jobs/observe-upload.ts';

/** How often a waiting request looks whether the file has come by itself, in ms; nobody tells us of it on S3. */
const UPLOAD_LOOK_MS = 1_000;
/** Looks of all waiting requests together, in a second: where many wait, each looks less often. */
const UPLOAD_LOOKS_PER_SECOND_MAX = 500;
/** How often it reads the job again although nothing woke it, in ms: a wake-up may be lost while NATS is away. */
const READ_AGAIN_MS = 5_000;

/**
 * The job as soon as its status is another than at the start of the request, or when `waitMs` are over, the client is
 * gone or the process stops (`signal`). A job that has ended is answered at once (D33).
 */
export async function waitForChange(deps: Dependencies, caller: KeyContext, jobId: string, waitMs: number, signal: AbortSignal): Promise<LiveJob> {
  const endMs = performance.now() + waitMs;
  const giveBack = waitMs > 0 ? deps.waitPlaces.take(caller.api_key_id) : undefined;
  // Subscribed before the first read: a change between the two would be missed otherwise.
  const watch = deps.logWatch.watch(jobId);
  try {
    let job = await readJob(deps, caller, jobId);
    const { status } = job;
    for (;;) {
      if (await observeUpload(deps, jobId, job)) job = await readJob(deps, caller, jobId);
      const leftMs = endMs - performance.now();
      if (job.status !== status || TERMINAL_STATUSES.has(job.status) || leftMs <= 0 || giveBack === undefined || signal.aborted) return job;
      await watch.next(Math.min(leftMs, awaitsUpload(job) ? lookMs(deps.waitPlaces.taken) : READ_AGAIN_MS), signal);
      job = await readJob(deps, caller, jobId);
    }
  } finally {
    watch.close();
    giveBack?.();
  }
}

function lookMs(waiting: number): number {
  return Math.max(UPLOAD_LOOK_MS, (waiting * 1000) / UPLOAD_LOOKS_PER_SECOND_MAX);
}

async function readJob(deps: Dependencies, caller: KeyContext, jobId: string): Promise<LiveJob> {
  return jobAt(await loadVisibleJob(deps, caller, jobId), isoTime(deps.clock.nowMs()));
}
