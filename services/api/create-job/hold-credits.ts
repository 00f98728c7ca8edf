import type { KeyContext } from '../../../shared/accounts/accounts-copy.ts';
import { Defect } from '../../../shared/errors/errors.ts';
import { deriveId } from '../../../shared/ids/ids.ts';
import { requestHold } from '../../../shared/ledger-client/ledger-client.ts';
import type { Dependencies } from '../dependencies.ts';
import { ApiError } from '../errors/api-error.ts';

/** Active jobs that an organization without an active plan may have at once, over all its live keys (§8 rate limits 6). */
const FREE_ACTIVE_JOBS_MAX = 5;

/**
 * Has the ledger set the credits of a job aside, if the organization may have one more job (D29, D41). Answers until when
 * the job must be created. Throws `ApiError` 429 at the cap of active jobs, 402 when the balance does not suffice, and
 * `TransientError('ledger')` when no ledger answers.
 */
export async function holdCredits(deps: Dependencies, caller: KeyContext, jobId: string, amount: number, requestId: string): Promise<string> {
  const answer = await requestHold(deps.nc, {
    organization_id: caller.organization_id,
    job_id: jobId,
    amount,
    ...(caller.plan === 'free' ? { active_jobs_max: FREE_ACTIVE_JOBS_MAX } : {}),
    command_id: deriveId('credits.held', jobId),
    correlation_id: requestId,
    actor: `api_key:${caller.api_key_id}`,
  });
  if (answer.ok) {
    deps.logWatch.note('CREDITS', answer.position);
    return answer.create_before;
  }
  switch (answer.code) {
    case 'active_job_limit_reached':
      throw tooManyActiveJobs(answer.limit);
    case 'insufficient_credits':
      throw insufficientCredits(deps, answer.credits_required, answer.credits_available);
    case 'already_settled':
      throw new Defect('the hold of a job that is only now being created has ended already');
    default:
      return answer satisfies never;
  }
}

/** 429 at the cap of active jobs; without Retry-After, because nobody knows when a job will end (§8 rate limits 6). */
export function tooManyActiveJobs(limit: number = FREE_ACTIVE_JOBS_MAX): ApiError {
  return ApiError.of(429, 'rate_limited', `The organization has ${limit} active jobs already, as many as its plan allows. Nothing was created.`, { reason: 'active_job_limit_reached', limit });
}

/** 402: the balance cannot cover the job, and nothing was created (§7). */
export function insufficientCredits(deps: Pick<Dependencies, 'config'>, credits_required: number, credits_available: number): ApiError {
  const details = { credits_required, credits_available, pricing_url: deps.config.pricingUrl };
  return ApiError.of(402, 'insufficient_credits', `The job needs ${credits_required} credits and ${credits_available} are available. Nothing was created.`, details);
}
