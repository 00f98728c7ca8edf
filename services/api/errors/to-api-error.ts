import { ConflictError, DomainError, TransientError, type Dependency } from '../../../shared/errors/errors.ts';
import { ApiError } from './api-error.ts';

/** When a client should try again after 503, in seconds; embedded servers are back within this time. */
const RETRY_AFTER_SECONDS = 2;

/** `details.reason` of a 503 by the dependency that is away (§7 names the one of the file storage). */
const REASONS: Readonly<Record<Dependency, string>> = {
  nats: 'event_log_unavailable',
  postgres: 'read_model_unavailable',
  read_model: 'read_model_unavailable',
  storage: 'storage_unavailable',
  ledger: 'credit_service_unavailable',
  importer: 'import_service_unavailable',
  converter: 'conversion_service_unavailable',
};

/** What each refusal of the domain and of the object store is to a client; all others are defects. */
const ANSWERS: Readonly<Record<string, (error: DomainError) => ApiError>> = {
  not_found: () => ApiError.notFound(),
  // A job that was being created for so long that the ledger has given its credits back: the same request may go well.
  already_exists: () => unavailable('credit_service_unavailable'),
  data_key_destroyed: () => ApiError.notFound(),
  object_not_found: () => ApiError.notFound('There is no such file.'),
  already_terminal: stateConflict,
  processing_cannot_be_cancelled: stateConflict,
  processing_cannot_be_deleted: stateConflict,
  not_waiting: stateConflict,
  already_uploaded: stateConflict,
  too_many_multipart_starts: stateConflict,
  not_an_upload: badRequest,
  multipart_not_started: badRequest,
  too_many_endpoints: badRequest,
  too_many_endpoint_changes: badRequest,
  multipart_not_found: () => ApiError.notFound('There is no such upload, or it is over.'),
  object_exists: (error) => ApiError.of(409, 'validation_failed', error.message, { reason: 'already_uploaded' }),
  object_changed: () => ApiError.notFound('There is no such file.'),
  object_too_large: (error) => ApiError.of(413, 'file_too_large', error.message, error.details),
  incomplete_body: (error) => ApiError.of(400, 'validation_failed', error.message, { reason: 'incomplete_body' }),
};

/** The one place where errors become answers. Whatever is not expected is 500 without detail. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof TransientError) return unavailable(REASONS[error.dependency]);
  // Others kept appending to this aggregate; the same request has a good chance a moment later.
  if (error instanceof ConflictError) return unavailable('too_many_changes');
  const answer = error instanceof DomainError ? ANSWERS[error.code] : undefined;
  if (error instanceof DomainError && answer) return answer(error);
  return unexpected();
}

/** 500: a fault of ours, of which a client is told nothing (§7). */
export function unexpected(): ApiError {
  return ApiError.of(500, 'internal', 'Something went wrong on our side.', { retryable: false });
}

/** 503 that a client may try again (D77). */
export function unavailable(reason: string): ApiError {
  const message = 'The service cannot answer this for a moment. Try again shortly.';
  return ApiError.of(503, 'internal', message, { retryable: true, reason }, { 'Retry-After': String(RETRY_AFTER_SECONDS) });
}

/** A request that this job can never, or not yet, take, or one endpoint too many; 400 by §4.4 and §4.6. */
function badRequest(error: DomainError): ApiError {
  return ApiError.of(400, 'validation_failed', error.message, { reason: error.code });
}

/** A conflict with the state of a job carries code `validation_failed` and status 409 (§7, D35). */
function stateConflict(error: DomainError): ApiError {
  return ApiError.of(409, 'validation_failed', error.message, { reason: error.code, ...error.details });
}
