import { DONE, type Outcome } from '../../shared/consume/outcome.ts';
import type { WorkerMessage } from '../../shared/consume/worker.ts';
import { decode } from '../../shared/events/envelope.ts';
import { parseSubject } from '../../shared/store/subjects.ts';
import { scheduleTimer } from '../../shared/timers/timers.ts';
import type { ImporterContext } from './context.ts';

/** First and longest wait between two looks for a file that nobody asks about, in ms. */
const LOOK_WAIT_MS_MIN = 2_000;
const LOOK_WAIT_MS_MAX = 60_000;

/**
 * Sets the deadlines of a job (D89): when it is created, those of its upload; when it is finished, that of its result.
 * A timer that is set again is moved, so the same event may come any number of times.
 */
export async function scheduleDeadlines(context: ImporterContext, message: WorkerMessage): Promise<Outcome> {
  const { aggregate, event } = decode(parseSubject(message.subject), message.position, message.bytes);
  const subjectTokens = [aggregate.id];
  if (event.type === 'job.created' && event.data.import === 'upload') {
    await scheduleTimer(context.nc, { kind: 'upload_window', subjectTokens, dueAtMs: Date.parse(event.data.upload_deadline_at) });
    await scheduleLook(context, aggregate.id, event.data);
  } else if (event.type === 'job.finished') {
    await scheduleTimer(context.nc, { kind: 'result_ttl', subjectTokens, dueAtMs: Date.parse(event.data.expires_at) });
  }
  return DONE;
}

/**
 * Sets the time of the next look for a file: after half the age of the job, so that looks grow rarer with it, from two
 * seconds to a minute. No look is set that would come after the upload window is over.
 */
export async function scheduleLook(context: ImporterContext, jobId: string, created: { readonly created_at: string; readonly upload_deadline_at: string }): Promise<void> {
  const nowMs = context.clock.nowMs();
  const halfAgeMs = (nowMs - Date.parse(created.created_at)) / 2;
  const dueAtMs = nowMs + Math.min(Math.max(halfAgeMs, LOOK_WAIT_MS_MIN), LOOK_WAIT_MS_MAX);
  if (dueAtMs >= Date.parse(created.upload_deadline_at)) return;
  await scheduleTimer(context.nc, { kind: 'upload_check', subjectTokens: [jobId], dueAtMs });
}
