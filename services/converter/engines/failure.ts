import { CodedError } from '../../../shared/errors/errors.ts';

/**
 * Why a conversion failed, as a closed set that a person can act on; `details.cause` of the job's error (D38).
 * Only the last three can be no fault of the file.
 */
export const FAILURE_CAUSES = [
  'empty_file',
  'not_what_it_claims',
  'damaged',
  'too_many_pixels',
  'too_many_frames',
  'page_not_found',
  'too_many_pages',
  'too_many_cells',
  'too_much_text',
  'sheet_not_found',
  'too_long',
  'unpacks_too_large',
  'password_required',
  'wrong_password',
  'cannot_be_unlocked',
  'no_text',
  'no_audio',
  'no_video',
  'start_after_end',
  'unsupported_feature',
  'result_too_large',
  'timeout',
  'out_of_memory',
  'engine_crashed',
] as const;

/** One of `FAILURE_CAUSES`. */
export type FailureCause = (typeof FAILURE_CAUSES)[number];

/**
 * A conversion that cannot be done. `operatorDetail` is what a program said; it may quote the file, so it is never
 * stored, sent or logged. Only a probe, which has no file, shows it.
 */
export class EngineFailure extends CodedError {
  readonly code: FailureCause;
  readonly operatorDetail: string;
  constructor(code: FailureCause, operatorDetail = '') {
    super(`the conversion failed: ${code}`);
    this.code = code;
    this.operatorDetail = operatorDetail;
  }
}

/** The process of a conversion was ended from outside: by an operator, a shutdown, or the system for want of memory. */
export class EngineKilled extends CodedError {
  readonly code = 'engine_killed';
}
