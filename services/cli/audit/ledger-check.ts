import { balanceOf, creditsDecider, type CreditsState, type Hold } from '../../../shared/domain/credits.ts';
import type { LiveJob } from '../../../shared/domain/job-state.ts';
import type { Findings } from './findings.ts';

/** A hold without a job is released within two minutes; after this time it is a fault. */
const ORPHAN_MS_MAX = 180_000;
/** An ended job is settled within moments; after this time it is a fault. */
const SETTLE_MS_MAX = 30_000;

/** What the audit keeps of a job for comparing it with the ledger. */
export type JobAccount = { readonly job: LiveJob; readonly deleted: boolean; readonly changedAtMs: number };

/** Sums over all organizations. */
export type Totals = { readonly granted: number; readonly balance: number; readonly held: number; readonly charged: number };

/** `granted = balance + held + charged` for each organization, no number below 0. Answers the sums over all. */
export function checkBalances(states: ReadonlyMap<string, CreditsState>, findings: Findings): Totals {
  const totals = { granted: 0, balance: 0, held: 0, charged: 0 };
  for (const [organizationId, state] of states) {
    const holds = [...state.holds.values()];
    const open = holds.filter((hold) => hold.status === 'held').reduce((sum, hold) => sum + hold.amount, 0);
    if (open !== state.held) findings.add('ledger', organizationId, `${state.held} credits are held, but the open holds add up to ${open}`);
    if (balanceOf(state) < 0 || state.held < 0 || state.charged < 0) findings.add('ledger', organizationId, 'a balance is below 0');
    totals.granted += state.granted;
    totals.balance += balanceOf(state);
    totals.held += state.held;
    totals.charged += state.charged;
  }
  return totals;
}

/**
 * One hold for each live job, then exactly one charge or release that fits how the job ended; nothing for test jobs;
 * no hold without a job. What is only under way is not a fault.
 */
export function checkSettlements(jobs: ReadonlyMap<string, JobAccount>, states: ReadonlyMap<string, CreditsState>, holdTimes: ReadonlyMap<string, number>, nowMs: number, findings: Findings): void {
  for (const [jobId, account] of jobs) {
    const { created } = account.job;
    const hold = (states.get(created.organization_id) ?? creditsDecider.initialState).holds.get(jobId);
    const problem = created.key_mode === 'test' ? hold && 'a test job has credits held' : settlementProblem(account, hold, nowMs);
    if (problem !== undefined) findings.add('ledger', `job.${jobId}`, problem);
  }
  for (const state of states.values()) {
    for (const [jobId, hold] of state.holds) {
      if (jobs.has(jobId) || hold.status === 'released') continue;
      if (hold.status === 'charged') findings.add('ledger', `job.${jobId}`, 'credits were charged for a job that does not exist');
      else if (nowMs - (holdTimes.get(jobId) ?? 0) > ORPHAN_MS_MAX) findings.add('ledger', `job.${jobId}`, 'credits are held for a job that does not exist');
    }
  }
}

function settlementProblem({ job, deleted, changedAtMs }: JobAccount, hold: Hold | undefined, nowMs: number): string | undefined {
  if (!hold) return 'no credits were ever held';
  if (hold.amount !== job.created.credits_estimated) return `${hold.amount} credits were held instead of ${job.created.credits_estimated}`;
  const expected = expectedStatus(job, deleted);
  if (hold.status === expected) return undefined;
  const underWay = hold.status === 'held' && nowMs - changedAtMs < SETTLE_MS_MAX;
  return underWay ? undefined : `its credits are ${hold.status} but must be ${expected}`;
}

function expectedStatus(job: LiveJob, deleted: boolean): Hold['status'] {
  if (job.finish) return 'charged';
  const active = job.status === 'waiting' || job.status === 'queued' || job.status === 'processing';
  return active && !deleted ? 'held' : 'released';
}
