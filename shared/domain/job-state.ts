import type { EventData, JobEvent } from '../events/registry.ts';

/** The statuses of §3, for jobs and tasks alike. */
export const JOB_STATUSES = ['waiting', 'queued', 'processing', 'finished', 'error', 'cancelled', 'expired'] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

/** Statuses from which a job does not move, but for finished to expired (§3). */
export const TERMINAL_STATUSES: ReadonlySet<JobStatus> = new Set(['finished', 'error', 'cancelled', 'expired']);

type Source = EventData<'job.source_received'>;
/** An upload in parts that is open, or that was completed. */
type Multipart = EventData<'job.multipart_started'> & { readonly completed?: EventData<'job.multipart_completed'> };
type Finish = EventData<'job.finished'>;

/** A job that exists; `status` tells which of the optional parts are there. */
export type LiveJob = {
  readonly kind: 'live';
  readonly status: JobStatus;
  readonly created: EventData<'job.created'>;
  readonly source?: Source;
  readonly multipart?: Multipart;
  /** How many uploads in parts were started; tells apart the one that is open. */
  readonly multipartStarts?: number;
  /** Attempt that owns the conversion while processing, or that ended it. */
  readonly attempt: number;
  /** Attempts that were handed back; the others that ended without a result are deaths. */
  readonly interruptions: number;
  /** The last attempt was handed back, so nobody owns the conversion. */
  readonly interrupted: boolean;
  /** How far the attempt that owns the conversion last said it is, in percent; absent before it has. */
  readonly progress?: number;
  readonly finish?: Finish;
  readonly error?: EventData<'job.failed'>['error'];
};

/** What the events of one job say: nothing yet, a job, or that it was deleted (D36). */
export type JobState = { readonly kind: 'none' } | LiveJob | { readonly kind: 'deleted' };

/** True when a job has come to its end, or was deleted; nothing but expiry and deletion follows. */
export function isOver(state: JobState): boolean {
  return state.kind === 'deleted' || (state.kind === 'live' && TERMINAL_STATUSES.has(state.status));
}

/**
 * True while a client has yet to upload the file, for which its time is limited. An upload in parts that was completed is
 * whole: the job then waits for us alone, and for longer.
 */
export function awaitsFile(job: LiveJob): boolean {
  return job.status === 'waiting' && job.created.import === 'upload' && job.multipart?.completed === undefined;
}

/**
 * How long after the upload window a file that was assembled from parts may wait to be looked at, in ms: longer than any
 * outage that somebody would sit out. Then nobody can read it, and the credits of its job must not be held for ever.
 */
const UNREAD_MS_MAX = 24 * 3_600_000;

/** When the job ends by the clock, by an event that is due then (§3); undefined when nothing but an event ends it. */
export function deadlineOf(job: LiveJob): string | undefined {
  if (job.status === 'finished') return job.finish?.expires_at;
  if (job.status !== 'waiting') return undefined;
  const { upload_deadline_at: windowEnd } = job.created;
  return job.multipart?.completed ? new Date(Date.parse(windowEnd) + UNREAD_MS_MAX).toISOString() : windowEnd;
}

export const initialJob: JobState = { kind: 'none' };

/** Applies one event. Every time in the state stands in an event; no fold reads a clock (D87). */
export function evolveJob(state: JobState, event: JobEvent): JobState {
  if (event.type === 'job.created') {
    // Whoever fetches reads it from the event; copies of the state have no use for it.
    const { fetch: _, ...created } = event.data;
    return { kind: 'live', status: 'waiting', created, attempt: 0, interruptions: 0, interrupted: false };
  }
  // Also as the first event: the id was abandoned before its job was created.
  if (event.type === 'job.deleted') return { kind: 'deleted' };
  if (state.kind !== 'live') return state;
  switch (event.type) {
    case 'job.multipart_started':
      return { ...state, multipart: event.data, multipartStarts: (state.multipartStarts ?? 0) + 1 };
    case 'job.multipart_completed':
      return state.multipart ? { ...state, multipart: { ...state.multipart, completed: event.data } } : state;
    case 'job.multipart_aborted':
      return withoutMultipart(state);
    case 'job.source_received':
      return { ...state, status: 'queued', source: event.data };
    case 'job.conversion_started':
      return { ...withoutProgress(state), status: 'processing', attempt: event.data.attempt, interrupted: false };
    case 'job.conversion_progressed':
      return { ...state, progress: event.data.percent };
    case 'job.conversion_interrupted':
      return { ...state, interruptions: state.interruptions + 1, interrupted: true };
    case 'job.finished':
      return { ...withoutProgress(state), status: 'finished', finish: event.data };
    case 'job.failed':
      return { ...withoutProgress(state), status: 'error', error: event.data.error };
    case 'job.cancelled':
      return { ...state, status: 'cancelled' };
    case 'job.expired':
      return { ...state, status: 'expired' };
    default:
      return assertNever(event);
  }
}

/** It counts while its attempt converts; what comes after begins anew, or has ended. */
function withoutProgress({ progress: _progress, ...rest }: LiveJob): LiveJob {
  return rest;
}

function withoutMultipart({ multipart: _multipart, ...rest }: LiveJob): LiveJob {
  return rest;
}

function assertNever(event: never): never {
  throw new TypeError(`unhandled event ${JSON.stringify(event)}`);
}
