import type { Hold } from '../../../shared/domain/credits.ts';
import { deadlineOf, type LiveJob } from '../../../shared/domain/job-state.ts';
import type { AuditedCredits, AuditedHold } from './credits-books.ts';
import type { Findings } from './findings.ts';

/** A hold without a job is released within two minutes; after this time it is a fault. */
const ORPHAN_MS_MAX = 180_000;
/** An ended job is settled within moments; after this time it is a fault. */
const SETTLE_MS_MAX = 30_000;
/** A deadline is met within a second; after this time somebody who should have met it is not there, or its timer is lost. */
const OVERDUE_MS_MAX = 600_000;

/**
 * The moment an audit looks at: the time, and the end of `CREDITS` before that of `JOBS` was fixed. Whatever was settled up
 * to there has its reason in the jobs that were read; what was settled later may not.
 */
export type AuditMoment = { readonly nowMs: number; readonly settledUpTo: number };

/** What the audit keeps of a job for comparing it with the ledger. */
export type JobAccount = { readonly job: LiveJob; readonly deleted: boolean; readonly changedAtMs: number };

/** Sums over all organizations. */
export type Totals = { readonly granted: number; readonly balance: number; readonly held: number; readonly charged: number };

/** `granted = balance + held + charged` for each organization, no number below 0. Answers the sums over all. */
export function checkBalances(organizations: ReadonlyMap<string, AuditedCredits>, findings: Findings): Totals {
  const totals = { granted: 0, balance: 0, held: 0, charged: 0 };
  for (const [organizationId, { sums, holds }] of organizations) {
    let open = 0;
    for (const hold of holds.values()) if (hold.status === 'held') open += hold.amount;
    const balance = sums.granted - sums.held - sums.charged;
    if (open !== sums.held) findings.add('ledger', organizationId, `${sums.held} credits are held, but the open holds add up to ${open}`);
    if (balance < 0 || sums.held < 0 || sums.charged < 0) findings.add('ledger', organizationId, 'a balance is below 0');
    totals.granted += sums.granted;
    totals.balance += balance;
    totals.held += sums.held;
    totals.charged += sums.charged;
  }
  return totals;
}

/**
 * One hold for each live job, then exactly one charge or release that fits how the job ended; nothing for test jobs;
 * no hold without a job. What is only under way is not a fault.
 */
export function checkSettlements(jobs: ReadonlyMap<string, JobAccount>, organizations: ReadonlyMap<string, AuditedCredits>, moment: AuditMoment, findings: Findings): void {
  for (const [jobId, account] of jobs) {
    const { created } = account.job;
    const hold = organizations.get(created.organization_id)?.holds.get(jobId);
    const problem = created.key_mode === 'test' ? hold && 'a test job has credits held' : settlementProblem(account, hold, moment);
    if (problem !== undefined) findings.add('ledger', `job.${jobId}`, problem);
  }
  for (const { holds } of organizations.values()) {
    for (const [jobId, hold] of holds) {
      if (jobs.has(jobId) || hold.status === 'released' || hold.position > moment.settledUpTo) continue;
      if (hold.status === 'charged') findings.add('ledger', `job.${jobId}`, 'credits were charged for a job that does not exist');
      else if (moment.nowMs - hold.heldAtMs > ORPHAN_MS_MAX) findings.add('ledger', `job.${jobId}`, 'credits are held for a job that does not exist');
    }
  }
}

/** A job whose time is over is ended by an event soon after (§3); until then its credits stay held, or its files lie there. */
export function checkDeadlines(jobs: ReadonlyMap<string, JobAccount>, { nowMs }: AuditMoment, findings: Findings): void {
  for (const [jobId, { job, deleted }] of jobs) {
    const over = deleted ? undefined : deadlineOf(job);
    if (over !== undefined && nowMs - Date.parse(over) > OVERDUE_MS_MAX) findings.add('deadline', `job.${jobId}`, `it is ${job.status} although its time was over at ${over}`);
  }
}

function settlementProblem({ job, deleted, changedAtMs }: JobAccount, hold: AuditedHold | undefined, { nowMs, settledUpTo }: AuditMoment): string | undefined {
  if (!hold) return 'no credits were ever held';
  if (hold.amount !== job.created.credits_estimated) return `${hold.amount} credits were held instead of ${job.created.credits_estimated}`;
  const expected = expectedStatus(job, deleted);
  if (hold.status === expected) return undefined;
  const underWay = hold.position > settledUpTo || (hold.status === 'held' && nowMs - changedAtMs < SETTLE_MS_MAX);
  return underWay ? undefined : `its credits are ${hold.status} but must be ${expected}`;
}

function expectedStatus(job: LiveJob, deleted: boolean): Hold['status'] {
  if (job.finish) return 'charged';
  const active = job.status === 'waiting' || job.status === 'queued' || job.status === 'processing';
  return active && !deleted ? 'held' : 'released';
}
