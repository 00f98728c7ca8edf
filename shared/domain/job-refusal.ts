import { DomainError } from '../errors/errors.ts';
import type { LiveJob } from './job-state.ts';

/** Codes with which a job refuses a command. */
export type JobRefusal =
  | 'not_found' | 'already_exists' | 'already_terminal' | 'processing_cannot_be_cancelled' | 'processing_cannot_be_deleted' | 'not_waiting' | 'not_queued' | 'attempt_fenced' | 'not_due'
  | 'not_an_upload' | 'multipart_not_started' | 'already_uploaded' | 'too_many_multipart_starts';

/** The error of a refusal; it names the status of the job, where there is one (D35). */
export function refuse(code: JobRefusal, message: string, job?: LiveJob): DomainError<JobRefusal> {
  return new DomainError(code, message, job ? { status: job.status } : {});
}
