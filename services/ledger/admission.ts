import type { NatsConnection } from '@nats-io/transport-node';
import { isoTime, type Clock } from '../../shared/clock/clock.ts';
import { balanceOf } from '../../shared/domain/credits.ts';
import { Defect, DomainError, TransientError } from '../../shared/errors/errors.ts';
import { deriveId } from '../../shared/ids/ids.ts';
import { LEDGER_TIMEOUT_MS, type GrantAnswer, type GrantRequest, type HoldAnswer, type HoldRequest } from '../../shared/ledger-client/messages.ts';
import type { EventStore } from '../../shared/store/event-store.ts';
import { scheduleTimer } from '../../shared/timers/timers.ts';
import type { Books, Intent } from './books.ts';
import type { CreditsTables } from './credits-tables.ts';
import { EndedJobs } from './ended-jobs.ts';
import { findUncounted } from './uncounted.ts';

/** Part of the time until a hold is released in which its job must be created; the rest is for clocks that differ. */
const CREATE_SHARE = 0.5;
/** Part of that time after which a hold that took so long to append gets its release timer anew. */
const SLOW_SHARE = 0.25;

/** A request that waited this long, in ms, is not begun: its caller would be gone, and the hold an orphan. */
const BEGIN_WITHIN_MS = LEDGER_TIMEOUT_MS * 0.6;
/** Every open hold counts as an active job. */
const ALL_COUNT: ReadonlySet<string> = new Set();

/** What holding credits needs. */
export type AdmissionParts = {
  readonly nc: NatsConnection;
  readonly store: EventStore;
  readonly books: Books;
  readonly clock: Clock;
  /** After this time in ms a hold whose job was not created is released. */
  readonly holdReleaseMs: number;
  /** After this time in ms a job whose file was not uploaded stops counting as active (D41). */
  readonly uploadGraceMs: number;
};

/** Decides about requests for credits. `receivedMs` is when a request came, by `performance.now()`. */
export class Admission {
  readonly #parts: AdmissionParts;
  readonly #endedJobs: EndedJobs;

  constructor(parts: AdmissionParts) {
    this.#parts = parts;
    this.#endedJobs = new EndedJobs(parts);
  }

  /**
   * Holds credits for a job, once for each job id, if the organization may have one more (D29, D41). The answer's balance
   * is exact after the hold. Every refusal is an answer; throws `TransientError` when the log is away or the request had
   * to wait too long.
   */
  async hold(request: HoldRequest, receivedMs: number): Promise<HoldAnswer> {
    let isScheduled = false;
    const ensureRelease = async (): Promise<void> => {
      if (!isScheduled) await this.#scheduleRelease(request);
      isScheduled = true;
    };
    // Set outside of the turn when it will be needed, so that the next decision need not wait for it.
    if (this.#looksPossible(request)) await ensureRelease();
    return this.#inTurn(request.organization_id, receivedMs, async () => {
      let uncounted = ALL_COUNT;
      let answer = await this.#tryHold(request, receivedMs, ensureRelease, uncounted);
      if (!answer.ok && answer.code === 'active_job_limit_reached') {
        uncounted = await findUncounted(this.#parts, request.organization_id, answer.limit);
        answer = await this.#tryHold(request, receivedMs, ensureRelease, uncounted);
      }
      if (answer.ok || answer.code !== 'insufficient_credits') return answer;
      await this.#endedJobs.settle(request.organization_id, request.amount, receivedMs);
      return this.#tryHold(request, receivedMs, ensureRelease, uncounted);
    });
  }

  /** Gives an organization credits, once for each command id. Throws `TransientError`. */
  async grant(request: GrantRequest, receivedMs: number): Promise<GrantAnswer> {
    const { books } = this.#parts;
    const { organization_id: organizationId, amount, reason, command_id: commandId } = request;
    return this.#inTurn(organizationId, receivedMs, async () => {
      await books.catchUp();
      const { state, appended } = await books.decide({
        organizationId,
        command: { type: 'grant', data: reason === undefined ? { amount } : { amount, reason } },
        origin: { commandId, correlationId: request.correlation_id, causationId: commandId, actor: request.actor },
      });
      const position = appended?.position ?? books.tables.findGrant(commandId, organizationId);
      if (position === undefined) throw new Defect('a grant appended nothing');
      return { balance: balanceOf(state), position };
    });
  }

  #inTurn<T>(organizationId: string, receivedMs: number, work: () => Promise<T>): Promise<T> {
    return this.#parts.books.inTurn(organizationId, async () => {
      if (performance.now() - receivedMs > BEGIN_WITHIN_MS) throw new TransientError('ledger', 'a request waited too long');
      return work();
    });
  }

  async #tryHold(request: HoldRequest, receivedMs: number, ensureRelease: () => Promise<void>, uncounted: ReadonlySet<string>): Promise<HoldAnswer> {
    const { books, holdReleaseMs } = this.#parts;
    try {
      const { state, appended } = await books.decide(intentOf(request, ensureRelease, uncounted));
      // Were this process paused in between, the timer could have fired before there was anything to release.
      if (appended && performance.now() - receivedMs > holdReleaseMs * SLOW_SHARE) await this.#scheduleRelease(request);
      const hold = appended ? { position: appended.position, held_at: appended.envelope.time } : books.tables.findHold(request.job_id);
      if (!hold) throw new Defect('a hold appended nothing');
      const createBeforeMs = Date.parse(hold.held_at) + holdReleaseMs * CREATE_SHARE;
      return { ok: true, balance: balanceOf(state), position: hold.position, create_before: isoTime(createBeforeMs) };
    } catch (error) {
      return refusalOf(error, request);
    }
  }

  #looksPossible({ job_id, organization_id, amount, active_jobs_max = Infinity }: HoldRequest): boolean {
    const { tables } = this.#parts.books;
    if (tables.findHold(job_id) || balanceOf(tables.readState(organization_id, undefined)) < amount) return false;
    return active_jobs_max === Infinity || tables.countOpenHolds(organization_id) < active_jobs_max;
  }

  #scheduleRelease(request: HoldRequest): Promise<void> {
    const { nc, clock, holdReleaseMs } = this.#parts;
    return scheduleTimer(nc, {
      kind: 'orphaned_hold',
      subjectTokens: [request.organization_id, request.job_id],
      dueAtMs: clock.nowMs() + holdReleaseMs,
    });
  }
}

function intentOf(request: HoldRequest, ensureRelease: () => Promise<void>, uncounted: ReadonlySet<string>): Intent {
  const { organization_id: organizationId, job_id: jobId, amount, active_jobs_max: max } = request;
  return {
    organizationId,
    jobId,
    // Counted anew when another ledger appended meanwhile: its hold may have taken the last place.
    command: (tables) => ({ type: 'hold', job_id: jobId, amount, ...(max === undefined ? {} : { active: { max, count: countActive(tables, organizationId, uncounted) } }) }),
    // The id follows from the job, so that whichever ledger is asked again appends the same event.
    origin: { commandId: deriveId('hold', organizationId, jobId), correlationId: request.correlation_id, causationId: request.command_id, actor: request.actor },
    // Before the event: a timer without a hold does nothing, a hold without a timer could stay for ever.
    beforeAppend: ensureRelease,
  };
}

/** An open hold is an active job, or one that is about to be created. */
function countActive(tables: CreditsTables, organizationId: string, uncounted: ReadonlySet<string>): number {
  const stillOpen = [...uncounted].filter((jobId) => tables.findHold(jobId)?.status === 'held');
  return tables.countOpenHolds(organizationId) - stillOpen.length;
}

function refusalOf(error: unknown, request: HoldRequest): HoldAnswer {
  if (!(error instanceof DomainError)) throw error;
  if (error.code === 'already_settled') return { ok: false, code: 'already_settled' };
  if (error.code === 'active_job_limit_reached') return { ok: false, code: 'active_job_limit_reached', limit: Number(error.details['limit']) };
  if (error.code !== 'insufficient_credits') throw error;
  return { ok: false, code: 'insufficient_credits', credits_required: request.amount, credits_available: Number(error.details['credits_available']) };
}
