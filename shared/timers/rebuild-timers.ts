import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { readStream, streamExtent } from '../consume/read-stream.ts';
import { evolveJob, initialJob, isOver, type JobState, type LiveJob } from '../domain/job-state.ts';
import type { JobEvent } from '../events/registry.ts';
import { toTransient } from '../nats/transient.ts';
import { decodeMessage } from '../store/stored-message.ts';
import { readDeliveryTimers } from './delivery-timers.ts';
import { scheduleTimer, type Timer } from './timers.ts';

/** Says in `TIMERS` itself that all timers were set anew, so that it happens once. */
const REBUILT_SUBJECT = 'timer.rebuilt';
/** Timers that are set side by side. */
const WIDTH = 32;
/** A job that ended within this time before may not have been cleaned a second time yet, in ms. */
const CLEANED_WITHIN_MS = 48 * 3_600_000;
/** After this time a job that ended is cleaned once more, in ms; longer than any upload or conversion. */
const CLEAN_AGAIN_MS = 2 * 3_600_000;

type Entry = { readonly state: JobState; readonly uploadUntilMs: number; readonly changedAtMs: number };

/**
 * True when `TIMERS` is younger than the first job and nobody has set the timers of earlier jobs since: the log was put
 * back without them. Throws `TransientError`.
 */
export async function areTimersLost(nc: NatsConnection): Promise<boolean> {
  try {
    const manager = await jetstreamManager(nc, { checkAPI: false });
    const jobs = await manager.streams.info('JOBS');
    const timers = await manager.streams.info('TIMERS');
    if (jobs.state.messages === 0 || Date.parse(timers.created) <= Date.parse(jobs.state.first_ts)) return false;
    return (await manager.streams.getMessage('TIMERS', { last_by_subj: REBUILT_SUBJECT })) === null;
  } catch (error) {
    throw toTransient(error);
  }
}

/**
 * Sets every timer of a job anew out of the log: the end of its upload window and the next look for its file, the time of
 * its result, the end of a simulated conversion, the second cleaning; and the next attempt of every delivery to a webhook
 * endpoint. What is past fires at once. Safe to repeat, and while the service runs: whoever handles a timer looks at the
 * job or the delivery. Timers of holds are set by every ledger that starts. Keeps in memory what has a timer. Answers how
 * many were set; throws `TransientError`.
 */
export async function rebuildTimers(nc: NatsConnection, nowMs: number, signal?: AbortSignal): Promise<number> {
  const timers = [...(await readJobTimers(nc, nowMs, signal)), ...(await readDeliveryTimers(nc, nowMs, signal))];
  for (let at = 0; at < timers.length; at += WIDTH) {
    if (signal?.aborted === true) return at;
    await Promise.all(timers.slice(at, at + WIDTH).map((timer) => scheduleTimer(nc, timer)));
  }
  if (signal?.aborted === true) return timers.length;
  await markRebuilt(nc);
  return timers.length;
}

async function readJobTimers(nc: NatsConnection, nowMs: number, signal?: AbortSignal): Promise<readonly Timer[]> {
  const { last } = await streamExtent(nc, 'JOBS');
  const jobs = new Map<string, Entry>();
  for await (const message of readStream(nc, 'JOBS', 1, last)) {
    if (signal?.aborted === true) return [];
    const { aggregate, event, envelope } = decodeMessage(message.subject, message.position, message.bytes);
    // The stream JOBS holds events of jobs only; `decode` checked it.
    const entry = next(jobs.get(aggregate.id), event as JobEvent, Date.parse(envelope.time));
    if (isDone(entry, nowMs)) jobs.delete(aggregate.id);
    else jobs.set(aggregate.id, entry);
  }
  return [...jobs].flatMap(([jobId, entry]) => timersOf(jobId, entry, nowMs));
}

function next(before: Entry | undefined, event: JobEvent, changedAtMs: number): Entry {
  const until = event.type === 'job.created' ? event.data.upload_url_expires_at : undefined;
  return { state: evolveJob(before?.state ?? initialJob, event), uploadUntilMs: until === undefined ? (before?.uploadUntilMs ?? 0) : Date.parse(until), changedAtMs };
}

/** Nothing is to happen to it any more, whatever events still follow. */
function isDone({ state, changedAtMs }: Entry, nowMs: number): boolean {
  const isExpected = state.kind === 'live' && (state.status === 'finished' || !isOver(state));
  return !isExpected && nowMs - changedAtMs > CLEANED_WITHIN_MS;
}

function timersOf(jobId: string, { state, uploadUntilMs, changedAtMs }: Entry, nowMs: number): readonly Timer[] {
  const subjectTokens = [jobId];
  const timers: Timer[] = state.kind === 'live' ? openTimers(subjectTokens, state, nowMs) : [];
  if (isOver(state) && nowMs - changedAtMs <= CLEANED_WITHIN_MS) timers.push({ kind: 'clean_up', subjectTokens, dueAtMs: Math.max(nowMs, uploadUntilMs) + CLEAN_AGAIN_MS });
  return timers;
}

function openTimers(subjectTokens: readonly string[], { status, created, finish }: LiveJob, nowMs: number): Timer[] {
  switch (status) {
    case 'waiting': {
      const over: Timer = { kind: 'upload_window', subjectTokens, dueAtMs: Date.parse(created.upload_deadline_at) };
      // Looking sets the next look by itself.
      return created.import === 'upload' ? [over, { kind: 'upload_check', subjectTokens, dueAtMs: nowMs }] : [over];
    }
    case 'processing':
      // Too early is put off by whoever handles it.
      return created.key_mode === 'test' ? [{ kind: 'simulation_end', subjectTokens, dueAtMs: nowMs }] : [];
    case 'finished':
      return finish ? [{ kind: 'result_ttl', subjectTokens, dueAtMs: Date.parse(finish.expires_at) }] : [];
    case 'queued':
    case 'error':
    case 'cancelled':
    case 'expired':
      return [];
    default:
      return status satisfies never;
  }
}

async function markRebuilt(nc: NatsConnection): Promise<void> {
  try {
    await jetstream(nc).publish(REBUILT_SUBJECT, '');
  } catch (error) {
    throw toTransient(error);
  }
}
