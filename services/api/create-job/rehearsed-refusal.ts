import type { RehearsedRefusal } from '../../../shared/domain/test-triggers.ts';
import type { Dependencies } from '../dependencies.ts';
import { ApiError } from '../errors/api-error.ts';
import { unavailable, unexpected } from '../errors/to-api-error.ts';
import { insufficientCredits } from './hold-credits.ts';
import { unsupportedConversion, type AcceptedRequest } from './validate-request.ts';

/** Active jobs that a free organization may have (§8 rate limits 6). */
const ACTIVE_JOBS_MAX = 5;

/** Refuses the request as its tag asks for, before anything is created (D65). Throws `ApiError`; else does nothing. */
export function refuseAsRehearsed(deps: Dependencies, accepted: AcceptedRequest): void {
  const { refusal } = accepted.triggers;
  if (refusal !== undefined) throw errorOf(refusal, deps, accepted);
}

/** The answer that the real refusal gives: status, code, details and headers. */
function errorOf(refusal: RehearsedRefusal, deps: Dependencies, { pair }: AcceptedRequest): ApiError {
  switch (refusal) {
    case 'insufficient_credits':
      return insufficientCredits(deps, pair.estimate, pair.estimate - 1);
    case 'unsupported_conversion':
      return unsupportedConversion(pair.input, pair.output);
    case 'idempotency_conflict':
      return ApiError.of(409, 'idempotency_conflict', 'The first request with this Idempotency-Key is still running.', { retry_after: 1 }, { 'Retry-After': '1' });
    case 'rate_limited/active_job_limit_reached':
      return ApiError.of(429, 'rate_limited', 'The organization has as many active jobs as its plan allows.', { reason: 'active_job_limit_reached', limit: ACTIVE_JOBS_MAX });
    case 'internal':
      return unexpected();
    case 'internal/credit_service_unavailable':
      return unavailable('credit_service_unavailable');
    case 'internal/storage_unavailable':
      return unavailable('storage_unavailable');
    default:
      return refusal satisfies never;
  }
}
