import { retryTransient } from '../../shared/consume/retry.ts';
import type { Cleanup } from '../../shared/lifecycle/run-service.ts';
import { areTimersLost, rebuildTimers } from '../../shared/timers/rebuild-timers.ts';
import type { ImporterContext } from './context.ts';

/**
 * Sets all timers of jobs anew, beside the work, when the log was put back without them: a job that waits for a file that
 * never comes would keep its credits held for ever, and a result would never be removed.
 */
export function replaceLostTimers({ nc, clock, logger }: ImporterContext, cleanup: Cleanup): void {
  const stopping = new AbortController();
  const replace = async (): Promise<void> => {
    if (!(await areTimersLost(nc))) return;
    logger.warn('TIMERS is younger than the jobs: setting the deadlines of all jobs anew');
    logger.info({ timers: await rebuildTimers(nc, clock.nowMs(), stopping.signal) }, 'deadlines set anew');
  };
  const replacing = retryTransient(replace, stopping.signal).catch((error: unknown) => {
    if (!stopping.signal.aborted) logger.error({ err: error }, 'deadlines are lost and could not be set anew; run admin timers rebuild');
  });
  cleanup.add('lost timers', async () => {
    stopping.abort();
    await replacing;
  });
}
