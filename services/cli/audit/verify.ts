import type { NatsConnection } from '@nats-io/transport-node';
import type { Clock } from '../../../shared/clock/clock.ts';
import { accountDecider, type AccountState } from '../../../shared/domain/account.ts';
import { streamExtent } from '../../../shared/consume/read-stream.ts';
import { jobDecider } from '../../../shared/domain/job.ts';
import type { JobState } from '../../../shared/domain/job-state.ts';
import type { StoredEvent } from '../../../shared/events/envelope.ts';
import type { AccountEvent, JobEvent } from '../../../shared/events/registry.ts';
import { walkChains } from './chains.ts';
import { CreditsBooks } from './credits-books.ts';
import { DeliveryBooks } from './deliveries-check.ts';
import { AuditedEndpoints } from './endpoints.ts';
import { readFannedOut } from './fanned-out.ts';
import type { Findings } from './findings.ts';
import { checkBalances, checkDeadlines, checkSettlements, type JobAccount, type Totals } from './ledger-check.ts';
import { IllegalEventError, replayAccount, replayJob } from './replay.ts';

/** Counts of what was checked. */
export type LogReport = {
  readonly events: Readonly<Record<'JOBS' | 'CREDITS' | 'ACCOUNTS' | 'DELIVERIES', number>>;
  readonly jobs: number;
  readonly organizations: number;
  /** Deliveries that the log still has. */
  readonly deliveries: number;
  readonly credits: Totals;
};

/**
 * Replays the whole log: every chain intact, every transition one that the rules allow, every job settled by the ledger
 * as its end demands, every deadline met, every event queued for the endpoints that subscribed to it. Meanwhile the service
 * goes on, so each stream is read up to an end that is fixed before: first the settlements that are judged, then the jobs,
 * whose events are the reasons of those, then all of `CREDITS`, where the hold of each of these jobs lies; then what was
 * queued of these events, and last the endpoints it was queued for. Throws `TransientError`.
 */
export async function verifyLog(nc: NatsConnection, findings: Findings, clock: Clock, say: (line: string) => void): Promise<LogReport> {
  const accounts = new Map<string, AccountState>();
  const jobs = new Map<string, JobAccount>();
  const jobStates = new Map<string, JobState>();
  const credits = new CreditsBooks();
  const settledUpTo = (await streamExtent(nc, 'CREDITS')).last;
  const moment = { nowMs: clock.nowMs(), settledUpTo };
  const { last: jobsEnd } = await streamExtent(nc, 'JOBS');
  const { last: creditsEnd } = await streamExtent(nc, 'CREDITS');
  const fannedOutTo = await readFannedOut(nc, jobsEnd);
  const deliveriesExtent = await streamExtent(nc, 'DELIVERIES');
  const { last: accountsEnd } = await streamExtent(nc, 'ACCOUNTS');
  const endpoints = new AuditedEndpoints();

  say('replaying ACCOUNTS');
  await walkChains(nc, { stream: 'ACCOUNTS', first: 1, last: accountsEnd }, findings, (stored) => {
    applyTo(accounts, accountDecider.initialState, stored, findings, (state) => replayAccount(state, stored.event as AccountEvent));
    endpoints.apply(stored);
  });
  const deliveries = new DeliveryBooks(endpoints, { nowMs: moment.nowMs, fannedOutTo, jobsEnd, hasForgotten: deliveriesExtent.first > 1 }, findings);
  say('replaying JOBS');
  await walkChains(nc, { stream: 'JOBS', first: 1, last: jobsEnd }, findings, (stored) => {
    const state = applyTo(jobStates, jobDecider.initialState, stored, findings, (before) => replayJob(before, stored.event as JobEvent, stored.envelope.time));
    remember(jobs, stored, state);
    deliveries.noteJobEvent(stored, state);
  });
  say('replaying CREDITS');
  await walkChains(nc, { stream: 'CREDITS', first: 1, last: creditsEnd }, findings, (stored) => judged(stored, findings, () => credits.apply(stored)));
  say('replaying DELIVERIES');
  await walkChains(nc, { stream: 'DELIVERIES', ...deliveriesExtent }, findings, (stored) => judged(stored, findings, () => deliveries.apply(stored)));
  deliveries.checkWhole();
  const totals = checkBalances(credits.organizations, findings);
  checkSettlements(jobs, credits.organizations, moment, findings);
  checkDeadlines(jobs, moment, findings);
  const events = { JOBS: jobsEnd, CREDITS: creditsEnd, ACCOUNTS: accountsEnd, DELIVERIES: deliveriesExtent.last };
  return { events, jobs: jobs.size, organizations: accounts.size, deliveries: deliveries.count, credits: totals };
}

function applyTo<State>(states: Map<string, State>, initial: State, stored: StoredEvent, findings: Findings, replay: (state: State) => State): State {
  const { id } = stored.aggregate;
  const before = states.get(id) ?? initial;
  const after = judged(stored, findings, () => replay(before)) ?? before;
  states.set(id, after);
  return after;
}

/** What `work` answers; nothing when the rules do not allow the event, which is then a finding. */
function judged<T>(stored: StoredEvent, findings: Findings, work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof IllegalEventError)) throw error;
    findings.add('transition', `${stored.aggregate.kind}.${stored.aggregate.id}`, `${error.message} (position ${stored.position})`);
    return undefined;
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
