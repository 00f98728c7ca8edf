import type { KeyContext } from '../../../shared/accounts/accounts-copy.ts';
import type { RehearsedRefusal } from '../../../shared/domain/test-triggers.ts';
import type { Dependencies } from '../dependencies.ts';
import type { ApiError } from '../errors/api-error.ts';
import { unavailable, unexpected } from '../errors/to-api-error.ts';
import { stillRunning } from '../idempotency/refusals.ts';
import { usedUp } from '../limits/limit-error.ts';
import { insufficientCredits, tooManyActiveJobs } from './hold-credits.ts';
import { unsupportedConversion, type AcceptedRequest } from './validate-request.ts';

/** Refuses the request as its tag asks for, before anything is created (D65). Throws `ApiError`; else does nothing. */
export function refuseAsRehearsed(deps: Dependencies, caller: KeyContext, accepted: AcceptedRequest): void {
  const { refusal } = accepted.triggers;
  if (refusal !== undefined) throw errorOf(refusal, deps, caller, accepted);
}

/** The answer that the real refusal gives: status, code, details and headers. */
function errorOf(refusal: RehearsedRefusal, deps: Dependencies, caller: KeyContext, { pair }: AcceptedRequest): ApiError {
  switch (refusal) {
    case 'insufficient_credits':
      return insufficientCredits(deps, pair.estimate, pair.estimate - 1);
    case 'unsupported_conversion':
      return unsupportedConversion(pair.input, pair.output);
    case 'idempotency_conflict':
      return stillRunning();
    case 'rate_limited/active_job_limit_reached':
      return tooManyActiveJobs();
    case 'rate_limited/key_rate_limited': {
      const { limit, resetSeconds } = deps.keyBudgets.recall(caller, 'create');
      return usedUp(limit, resetSeconds, deps.clock.nowMs());
    }
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
