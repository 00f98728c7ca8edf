import { isoTime } from '../../shared/clock/clock.ts';
import { DONE, later, type Outcome } from '../../shared/consume/outcome.ts';
import type { WorkerMessage } from '../../shared/consume/worker.ts';
import { jobDecider } from '../../shared/domain/job.ts';
import { deadlineOf, type JobStatus } from '../../shared/domain/job-state.ts';
import { Defect, DomainError } from '../../shared/errors/errors.ts';
import { originFrom } from '../../shared/events/origin.ts';
import { deriveId } from '../../shared/ids/ids.ts';
import { handle, loadState } from '../../shared/store/handle.ts';
import { parseDueTimer, scheduleTimer } from '../../shared/timers/timers.ts';
import { cleanJob } from './clean.ts';
import type { ImporterContext } from './context.ts';
import type { Observer } from './observer.ts';
import { scheduleLook } from './schedule.ts';

/** Wait before a deadline that came early by our clock is looked at again, in ms; clocks differ by far less. */
const EARLY_WAIT_MS = 1_000;
/** A deadline that is further away than this, in ms, is another one than that of the timer; clocks differ by far less. */
const OTHER_DEADLINE_MS = 60_000;

/** Acts on a timer that is due. It looks at the job and not at the timer, which may be late, early or come twice. */
export async function meetDeadline(context: ImporterContext, observer: Observer, message: WorkerMessage): Promise<Outcome> {
  const { kind, tokens } = parseDueTimer(message.subject);
  const [jobId] = tokens;
  if (jobId === undefined) throw new Defect('the timer of a job names a job');
  switch (kind) {
    case 'upload_window':
      return await endWait(context, observer, jobId);
    case 'result_ttl':
      return await expireJob(context, jobId, 'finished');
    case 'upload_check':
      return await lookAgain(context, observer, jobId);
    case 'clean_up':
      await cleanJob(context, jobId);
      return DONE;
    case 'simulation_end':
    case 'orphaned_hold':
    case 'webhook_attempt':
      throw new Defect('a timer of another service came to the importer');
    default:
      return kind satisfies never;
  }
}

/**
 * Ends the wait of a job. One whose file was assembled waits for us alone: it has more time, and at the end of that its
 * file is looked at once more, so that an outage costs no file that can be read. Whatever comes of the look, the wait is
 * over then: a file that cannot be read would hold the credits of its job for ever.
 */
async function endWait(context: ImporterContext, observer: Observer, jobId: string): Promise<Outcome> {
  const { state } = await loadState(context.store, jobDecider, { kind: 'job', id: jobId });
  if (state.kind === 'live' && state.status === 'waiting' && state.multipart?.completed) {
    const dueAtMs = Date.parse(deadlineOf(state) ?? state.created.upload_deadline_at);
    if (dueAtMs - context.clock.nowMs() > OTHER_DEADLINE_MS) {
      await scheduleTimer(context.nc, { kind: 'upload_window', subjectTokens: [jobId], dueAtMs });
      return DONE;
    }
    await observer.observe(jobId).catch((error: unknown) => context.logger.error({ err: error, job_id: jobId }, 'an assembled file cannot be read'));
  }
  return await expireJob(context, jobId, 'waiting');
}

/**
 * Ends a job whose time is over, if it still has the status in which that time counts. The window is strict: a file
 * that nobody observed within it is not looked for any more (D40). By a clock that is behind that of the server the
 * timer comes early; it is kept, because set anew it would fire at once, over and over.
 */
async function expireJob(context: ImporterContext, jobId: string, status: JobStatus): Promise<Outcome> {
  const { state, events } = await loadState(context.store, jobDecider, { kind: 'job', id: jobId });
  const cause = events.at(-1);
  if (state.kind !== 'live' || state.status !== status || !cause) return DONE;
  const nowMs = context.clock.nowMs();
  try {
    const { appended } = await handle(context.store, jobDecider, cause.aggregate, { type: 'expire', now: isoTime(nowMs) }, originFrom(cause, 'importer', deriveId('expire', jobId), nowMs));
    if (appended) context.logger.info({ job_id: jobId, correlation_id: cause.envelope.correlationid }, status === 'waiting' ? 'no file came, or could be read, in time' : 'result expired');
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    if (error.code === 'not_due') return later(EARLY_WAIT_MS);
  }
  return DONE;
}

/** Looks for a file that nobody asks about, and sets the next look while there is none (D32). */
async function lookAgain(context: ImporterContext, observer: Observer, jobId: string): Promise<Outcome> {
  if ((await observer.observe(jobId)) !== 'absent') return DONE;
  const { state } = await loadState(context.store, jobDecider, { kind: 'job', id: jobId });
  if (state.kind === 'live' && state.status === 'waiting') await scheduleLook(context, jobId, state.created);
  return DONE;
}
