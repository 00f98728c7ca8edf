import type { EventData } from '../events/registry.ts';
import { jobErrorMessage } from './job-error.ts';
import { awaitsFile, TERMINAL_STATUSES, type JobStatus, type LiveJob } from './job-state.ts';

/** What the client typed when it created the job; lies sealed in `job.created` (D88). */
export type JobTyped = {
  readonly tag?: string | undefined;
  readonly task_names: { readonly import: string; readonly convert: string; readonly export: string };
  readonly options: Readonly<Record<string, unknown>>;
  readonly ignored_options: readonly string[];
};

/** What of it is shown: all but the options of the conversion. */
export type ShownTyped = Omit<JobTyped, 'options'>;

/** Links are derived by whoever may hand them out, never stored (D18, D19). */
export type JobLinks = {
  /** Download URL of a result that is kept. */
  readonly resultUrl?: string;
};

/** A task as clients see it (§2.2). */
export type TaskView = {
  readonly name: string;
  readonly operation: 'import/upload' | 'import/url' | 'convert' | 'export/url';
  readonly status: JobStatus;
  readonly credits: number;
  /** Of the convert task while the job is processing, in whole percent. */
  readonly progress?: number;
  readonly result?: { readonly url: string; readonly urlExpiresAt: string } | { readonly uploadUrl: string };
  readonly ignored_options?: readonly string[];
};

/** A job as clients see it (§2.1). */
export type JobView = {
  readonly id: string;
  readonly status: JobStatus;
  readonly mode: 'single';
  readonly tag?: string;
  readonly testMode: boolean;
  readonly test_mode: boolean;
  readonly credits_estimated: number;
  readonly credits_used?: number;
  readonly tasks?: readonly TaskView[];
  readonly createdAt: string;
  readonly created_at: string;
  readonly expires_at: string;
  readonly api_key_id: string;
  readonly error?: { readonly code: string; readonly message: string; readonly details?: Readonly<Record<string, unknown>> };
};

/** When the job becomes expired by the clock alone: the result's time is over, or the upload window (D39). */
export function turnsExpiredAt(job: LiveJob): string | undefined {
  if (job.status === 'finished') return job.finish?.expires_at;
  return awaitsFile(job) ? job.created.upload_deadline_at : undefined;
}

/** The job as it stands at `now`: a passed deadline counts although its event may still be on its way (D39). */
export function jobAt(job: LiveJob, now: string): LiveJob {
  const over = turnsExpiredAt(job);
  return over !== undefined && over <= now ? { ...job, status: 'expired' } : job;
}

/** When the result is removed, or would be (D9). */
export function expiresAt(job: LiveJob): string {
  return job.finish?.expires_at ?? job.created.expires_at;
}

/** The one serializer of jobs: API answers, lists and webhooks all use it (D7). `job` comes from `jobAt`. */
export function viewJob(id: string, job: LiveJob, typed: ShownTyped, links: JobLinks, parts: { readonly tasks: boolean }): JobView {
  const creditsUsed = creditsUsedBy(job);
  return {
    id,
    status: job.status,
    mode: 'single',
    ...(typed.tag === undefined ? {} : { tag: typed.tag }),
    testMode: job.created.key_mode === 'test',
    test_mode: job.created.key_mode === 'test',
    credits_estimated: job.created.credits_estimated,
    ...(creditsUsed === undefined ? {} : { credits_used: creditsUsed }),
    ...(parts.tasks ? { tasks: viewTasks(job, typed, links, creditsUsed ?? 0) } : {}),
    createdAt: job.created.created_at,
    created_at: job.created.created_at,
    expires_at: expiresAt(job),
    api_key_id: job.created.api_key_id,
    ...(job.status === 'error' && job.error ? { error: viewError(job.error) } : {}),
  };
}

/** The job with its single upload URL, as only the answer of its creation and the replay of that have it (D18). */
export function withUploadUrl(job: JobView, uploadUrl: string): JobView {
  return { ...job, ...(job.tasks ? { tasks: job.tasks.map((task) => (task.operation === 'import/upload' ? { ...task, result: { uploadUrl } } : task)) } : {}) };
}

/** Absent before the end; the charge stays after a result has expired (D8). */
function creditsUsedBy(job: LiveJob): number | undefined {
  if (!TERMINAL_STATUSES.has(job.status)) return undefined;
  return job.finish?.credits_charged ?? 0;
}

/** Order is by role, whatever order the client wrote (D13). */
function viewTasks(job: LiveJob, typed: ShownTyped, links: JobLinks, creditsUsed: number): readonly TaskView[] {
  const status = taskStatuses(job);
  const { resultUrl } = links;
  return [
    {
      name: typed.task_names.import,
      operation: job.created.import === 'upload' ? 'import/upload' : 'import/url',
      status: status.import,
      credits: 0,
    },
    {
      name: typed.task_names.convert,
      operation: 'convert',
      status: status.convert,
      credits: creditsUsed,
      ...(job.status === 'processing' ? { progress: job.progress ?? 0 } : {}),
      ...(typed.ignored_options.length === 0 ? {} : { ignored_options: typed.ignored_options }),
    },
    {
      name: typed.task_names.export,
      operation: 'export/url',
      status: status.export,
      credits: 0,
      ...(resultUrl === undefined || job.status !== 'finished' ? {} : { result: { url: resultUrl, urlExpiresAt: expiresAt(job) } }),
    },
  ];
}

/** Task statuses in each status of the job (D14). */
function taskStatuses(job: LiveJob): Record<'import' | 'convert' | 'export', JobStatus> {
  switch (job.status) {
    case 'waiting':
      return { import: job.created.import === 'url' ? 'processing' : 'waiting', convert: 'waiting', export: 'waiting' };
    case 'queued':
      return { import: 'finished', convert: 'queued', export: 'waiting' };
    case 'processing':
      return { import: 'finished', convert: 'processing', export: 'waiting' };
    case 'finished':
      return { import: 'finished', convert: 'finished', export: 'finished' };
    case 'error':
    case 'cancelled':
    case 'expired':
      return {
        import: job.source ? 'finished' : job.status,
        convert: job.finish ? 'finished' : job.status,
        export: job.status,
      };
    default:
      return job.status satisfies never;
  }
}

function viewError(error: EventData<'job.failed'>['error']): NonNullable<JobView['error']> {
  const { code, reason, cause, max_bytes } = error;
  const details = {
    ...(reason === undefined ? {} : { reason }),
    ...(cause === undefined ? {} : { cause }),
    ...(max_bytes === undefined ? {} : { max_bytes }),
    ...(code === 'internal' ? { retryable: false } : {}),
  };
  return { code, message: jobErrorMessage(error), ...(Object.keys(details).length === 0 ? {} : { details }) };
}
