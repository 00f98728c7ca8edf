import { CodedError, DomainError } from '../errors/errors.ts';

/** Why an outbound request failed, in the words of §7; nothing else about the far side is ever told. */
export type EgressReason = 'blocked_address' | 'not_https' | 'invalid_url' | 'timeout' | 'too_many_redirects' | 'http_status' | 'network';

/** A request to an address that a client named cannot be made, or failed. `reason` is all that clients and logs learn. */
export class EgressError extends DomainError<'egress_failed'> {
  readonly reason: EgressReason;

  constructor(reason: EgressReason) {
    super('egress_failed', 'A request to a host of a client failed.', { reason });
    this.reason = reason;
  }
}

/** The answer is longer than the caller takes; `details.max_bytes` says how long it may be (§8). */
export class AnswerTooLargeError extends DomainError<'answer_too_large'> {
  constructor(maxBytes: number) {
    super('answer_too_large', `The answer is larger than ${maxBytes} bytes.`, { max_bytes: maxBytes });
  }
}

/** The caller gave the request up. */
export class EgressAbortedError extends DomainError<'egress_aborted'> {
  constructor() {
    super('egress_aborted', 'The request was given up.');
  }
}

/** An error of this module as it is; anything else that the network or the parser says is `network`. */
export function toEgressError(error: unknown): CodedError {
  return error instanceof CodedError ? error : new EgressError('network');
}
