import { DomainError } from '../../../shared/errors/errors.ts';

/** Every error code a client can meet, with the HTTP statuses it comes with (§7; `method_not_allowed` by D51). */
export const ERROR_STATUSES = {
  unauthorized: [401, 403],
  forbidden_scope: [403],
  not_found: [404],
  method_not_allowed: [405],
  validation_failed: [400, 408, 409, 411, 413, 416, 431],
  insufficient_credits: [402],
  rate_limited: [429],
  idempotency_conflict: [409, 422],
  unsupported_conversion: [400],
  file_too_large: [413],
  url_import_failed: [400],
  internal: [500, 503],
} as const satisfies Record<string, readonly number[]>;

/** Stable code of an error answer (§7). */
export type ErrorCode = keyof typeof ERROR_STATUSES;

/** Status with which a code may be answered. */
export type StatusOf<Code extends ErrorCode> = (typeof ERROR_STATUSES)[Code][number];

/** One problem of a request; `path` is dotted (D75). */
export type Issue = { readonly path: string; readonly message: string };

/** An error as it goes out: status, headers, and the parts of the envelope of §7. The message is written for clients. */
export class ApiError extends DomainError<ErrorCode> {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  private constructor(status: number, code: ErrorCode, message: string, details: Readonly<Record<string, unknown>>, headers: Readonly<Record<string, string>>) {
    super(code, message, details);
    this.status = status;
    this.headers = headers;
  }

  /** An error whose status fits its code; the pairs are those of `ERROR_STATUSES`. */
  static of<Code extends ErrorCode>(
    status: StatusOf<Code>,
    code: Code,
    message: string,
    details: Readonly<Record<string, unknown>> = {},
    headers: Readonly<Record<string, string>> = {},
  ): ApiError {
    return new ApiError(status, code, message, details, headers);
  }

  /** 400 with every problem of the request at once (§7). */
  static issues(issues: readonly Issue[], more: Readonly<Record<string, unknown>> = {}): ApiError {
    const first = issues[0];
    const rest = issues.length > 1 ? ` (and ${issues.length - 1} more)` : '';
    return ApiError.of(400, 'validation_failed', first ? `${first.path}: ${first.message}${rest}` : 'The request is not valid.', { ...more, issues });
  }

  /** 404: unknown, deleted, of another organization, or of the other key mode; all the same (§7). */
  static notFound(what = 'There is no such job.'): ApiError {
    return ApiError.of(404, 'not_found', what);
  }
}

/** The body of every answer that is not 2xx (§7); `details` only when they add something (D74). */
export function envelopeOf(error: ApiError, requestId: string): { readonly error: Readonly<Record<string, unknown>> } {
  const details = Object.keys(error.details).length === 0 ? {} : { details: error.details };
  return { error: { code: error.code, message: error.message, ...details, request_id: requestId } };
}
