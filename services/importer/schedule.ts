import { DONE, type Outcome } from '../../shared/consume/outcome.ts';
import type { WorkerMessage } from '../../shared/consume/worker.ts';
import type { EventData } from '../../shared/events/registry.ts';
import { decodeMessage } from '../../shared/store/stored-message.ts';
import { scheduleTimer } from '../../shared/timers/timers.ts';
import type { ImporterContext } from './context.ts';

/** First and longest wait between two looks for a file that nobody asks about, in ms. */
const LOOK_WAIT_MS_MIN = 2_000;
const LOOK_WAIT_MS_MAX = 60_000;

/** The time in which a file may come. */
type UploadWindow = Pick<EventData<'job.created'>, 'created_at' | 'upload_deadline_at'>;

/**
 * Sets the deadlines of a job (D89): when it is created, those of its file; when it is finished, that of its result.
 * A timer that is set again is moved, so the same event may come any number of times.
 */
export async function scheduleDeadlines(context: ImporterContext, message: WorkerMessage): Promise<Outcome> {
  const { aggregate, event } = decodeMessage(message.subject, message.position, message.bytes);
  const subjectTokens = [aggregate.id];
  if (event.type === 'job.created') {
    await scheduleTimer(context.nc, { kind: 'upload_window', subjectTokens, dueAtMs: Date.parse(event.data.upload_deadline_at) });
    // Nobody looks for a file that the service fetches itself.
    if (event.data.import === 'upload') await scheduleLook(context, aggregate.id, event.data);
  } else if (event.type === 'job.finished') {
    await scheduleTimer(context.nc, { kind: 'result_ttl', subjectTokens, dueAtMs: Date.parse(event.data.expires_at) });
  }
  return DONE;
}

/** Sets the next look for a file, if there is time for one. Throws `TransientError`. */
export async function scheduleLook(context: ImporterContext, jobId: string, window: UploadWindow): Promise<void> {
  const dueAtMs = nextLookAtMs(window, context.clock.nowMs());
  if (dueAtMs !== undefined) await scheduleTimer(context.nc, { kind: 'upload_check', subjectTokens: [jobId], dueAtMs });
}

/**
 * When to look next for a file that nobody asks about: after half the age of the job, so that looks grow rarer with it,
 * from two seconds to a minute. Undefined when the upload window would be over by then.
 */
export function nextLookAtMs(window: UploadWindow, nowMs: number): number | undefined {
  const halfAgeMs = (nowMs - Date.parse(window.created_at)) / 2;
  const dueAtMs = nowMs + Math.min(Math.max(halfAgeMs, LOOK_WAIT_MS_MIN), LOOK_WAIT_MS_MAX);
  return dueAtMs < Date.parse(window.upload_deadline_at) ? dueAtMs : undefined;
}
