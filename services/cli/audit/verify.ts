import type { NatsConnection } from '@nats-io/transport-node';
import { accountDecider, type AccountState } from '../../../shared/domain/account.ts';
import { creditsDecider, type CreditsState } from '../../../shared/domain/credits.ts';
import { jobDecider } from '../../../shared/domain/job.ts';
import type { JobState } from '../../../shared/domain/job-state.ts';
import type { StoredEvent } from '../../../shared/events/envelope.ts';
import type { AccountEvent, CreditsEvent, JobEvent } from '../../../shared/events/registry.ts';
import { walkChains } from './chains.ts';
import type { Findings } from './findings.ts';
import { checkBalances, checkSettlements, type JobAccount, type Totals } from './ledger-check.ts';
import { IllegalEventError, replayAccount, replayCredits, replayJob } from './replay.ts';

/** Counts of what was checked. */
export type LogReport = { readonly events: Readonly<Record<'JOBS' | 'CREDITS' | 'ACCOUNTS', number>>; readonly jobs: number; readonly organizations: number; readonly credits: Totals };

/**
 * Replays the whole log: every chain intact, every transition one that the rules allow, every job settled by the ledger
 * as its end demands. `CREDITS` is read after `JOBS`, so that a settlement is never looked for before its job.
 */
export async function verifyLog(nc: NatsConnection, findings: Findings, nowMs: number, say: (line: string) => void): Promise<LogReport> {
  const accounts = new Map<string, AccountState>();
  const jobs = new Map<string, JobAccount>();
  const jobStates = new Map<string, JobState>();
  const credits = new Map<string, CreditsState>();
  const holdTimes = new Map<string, number>();

  say('replaying ACCOUNTS');
  const accountEvents = await walkChains(nc, 'ACCOUNTS', findings, (stored) => {
    applyTo(accounts, accountDecider.initialState, stored, findings, (state) => replayAccount(state, stored.event as AccountEvent));
  });
  say('replaying JOBS');
  const jobEvents = await walkChains(nc, 'JOBS', findings, (stored) => {
    const state = applyTo(jobStates, jobDecider.initialState, stored, findings, (before) => replayJob(before, stored.event as JobEvent, stored.envelope.time));
    remember(jobs, stored, state);
  });
  say('replaying CREDITS');
  const creditsEvents = await walkChains(nc, 'CREDITS', findings, (stored) => {
    const event = stored.event as CreditsEvent;
    if (event.type === 'credits.held') holdTimes.set(event.data.job_id, Date.parse(stored.envelope.time));
    applyTo(credits, creditsDecider.initialState, stored, findings, (state) => replayCredits(state, event));
  });
  const totals = checkBalances(credits, findings);
  checkSettlements(jobs, credits, holdTimes, nowMs, findings);
  return { events: { JOBS: jobEvents, CREDITS: creditsEvents, ACCOUNTS: accountEvents }, jobs: jobs.size, organizations: accounts.size, credits: totals };
}

function applyTo<State>(states: Map<string, State>, initial: State, stored: StoredEvent, findings: Findings, replay: (state: State) => State): State {
  const { kind, id } = stored.aggregate;
  const before = states.get(id) ?? initial;
  try {
    const after = replay(before);
    states.set(id, after);
    return after;
  } catch (error) {
    if (!(error instanceof IllegalEventError)) throw error;
    findings.add('transition', `${kind}.${id}`, `${error.message} (position ${stored.position})`);
    return before;
  }
}

/** A deleted job has no state any more, but its settlement is still to be checked. */
function remember(jobs: Map<string, JobAccount>, stored: StoredEvent, state: JobState): void {
  const { id } = stored.aggregate;
  const changedAtMs = Date.parse(stored.envelope.time);
  const known = jobs.get(id);
  if (state.kind === 'live') jobs.set(id, { job: state, deleted: false, changedAtMs });
  else if (state.kind === 'deleted' && known) jobs.set(id, { ...known, deleted: true, changedAtMs });
}
