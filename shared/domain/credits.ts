import { Defect, DomainError } from '../errors/errors.ts';
import type { CreditsEvent, EventData } from '../events/registry.ts';
import type { Decider } from './decider.ts';

/** What became of the hold of one job. */
export type Hold = { readonly amount: number; readonly status: 'held' | 'charged' | 'released' };

/** Credits of one organization. `granted = balance + held + charged`, and none of them is ever below 0. */
export type CreditsState = {
  readonly granted: number;
  readonly held: number;
  readonly charged: number;
  /** Holds by job id; a caller that knows only the job it asks about may leave the others out. */
  readonly holds: ReadonlyMap<string, Hold>;
};

/** How many active jobs an organization has, and how many it may have (§8 rate limits 6). */
export type ActiveJobs = { readonly count: number; readonly max: number };

export type CreditsCommand =
  | { readonly type: 'grant'; readonly data: EventData<'credits.granted'> }
  | { readonly type: 'hold'; readonly job_id: string; readonly amount: number; readonly active?: ActiveJobs }
  | { readonly type: 'charge'; readonly data: Omit<EventData<'credits.charged'>, 'held'> }
  | { readonly type: 'release'; readonly job_id: string; readonly reason: EventData<'credits.released'>['reason'] };

/** What can be spent: granted less held less charged; `credits.balance` of GET /me (D28). */
export function balanceOf(state: CreditsState): number {
  return state.granted - state.held - state.charged;
}

/** Hold, then exactly one of charge and release for each job; asked again, nothing is left to do (D30). */
export const creditsDecider: Decider<CreditsState, CreditsCommand, CreditsEvent> = {
  initialState: { granted: 0, held: 0, charged: 0, holds: new Map() },
  decide(command, state) {
    switch (command.type) {
      case 'grant':
        return { type: 'credits.granted', data: command.data };
      case 'hold':
        return hold(command.job_id, command.amount, command.active, state);
      case 'charge':
        return charge(command.data, state);
      case 'release':
        return release(command.job_id, command.reason, state);
      default:
        return assertNever(command);
    }
  },
  evolve(state, event) {
    switch (event.type) {
      case 'credits.granted':
        return { ...state, granted: state.granted + event.data.amount };
      case 'credits.held':
        return settle(state, event.data.job_id, { amount: event.data.amount, status: 'held' }, event.data.amount, 0);
      case 'credits.charged':
        return settle(state, event.data.job_id, { amount: event.data.held, status: 'charged' }, -event.data.held, event.data.amount);
      case 'credits.released':
        return settle(state, event.data.job_id, { amount: event.data.amount, status: 'released' }, -event.data.amount, 0);
      default:
        return assertNever(event);
    }
  },
};

/** A hold for a job that has one already is the same request again; a settled job can never be held anew. The cap of active jobs comes before the balance (D1). */
function hold(jobId: string, amount: number, active: ActiveJobs | undefined, state: CreditsState): CreditsEvent | null {
  const known = state.holds.get(jobId);
  if (known?.status === 'held') return null;
  if (known) throw new DomainError('already_settled', 'The credits of this job are settled already.');
  if (active && active.count >= active.max) throw new DomainError('active_job_limit_reached', `The organization has ${active.count} active jobs.`, { limit: active.max });
  const available = balanceOf(state);
  if (amount > available) {
    throw new DomainError('insufficient_credits', `The job needs ${amount} credits; ${available} are available.`, { credits_required: amount, credits_available: available });
  }
  return { type: 'credits.held', data: { job_id: jobId, amount } };
}

function charge(data: Omit<EventData<'credits.charged'>, 'held'>, state: CreditsState): CreditsEvent | null {
  const known = state.holds.get(data.job_id);
  if (known?.status === 'charged') return null;
  if (known?.status !== 'held') throw new Defect('a job finished whose credits are not held');
  if (data.amount > known.amount) throw new Defect('a charge is above its hold');
  return { type: 'credits.charged', data: { ...data, held: known.amount } };
}

function release(jobId: string, reason: EventData<'credits.released'>['reason'], state: CreditsState): CreditsEvent | null {
  const known = state.holds.get(jobId);
  if (known?.status !== 'held') return null;
  return { type: 'credits.released', data: { job_id: jobId, amount: known.amount, reason } };
}

function settle(state: CreditsState, jobId: string, next: Hold, heldBy: number, chargedBy: number): CreditsState {
  return { ...state, held: state.held + heldBy, charged: state.charged + chargedBy, holds: new Map(state.holds).set(jobId, next) };
}

function assertNever(value: never): never {
  throw new TypeError(`unhandled ${JSON.stringify(value)}`);
}
