import type { NatsConnection } from '@nats-io/transport-node';
import { isoTime, type Clock } from '../../shared/clock/clock.ts';
import { balanceOf } from '../../shared/domain/credits.ts';
import { Defect, DomainError, TransientError } from '../../shared/errors/errors.ts';
import { deriveId } from '../../shared/ids/ids.ts';
import { LEDGER_TIMEOUT_MS, type GrantAnswer, type GrantRequest, type HoldAnswer, type HoldRequest } from '../../shared/ledger-client/messages.ts';
import type { EventStore } from '../../shared/store/event-store.ts';
import { scheduleTimer } from '../../shared/timers/timers.ts';
import type { Books, Intent } from './books.ts';
import { settleEndedJobs } from './catch-up.ts';

/** Part of the time until a hold is released in which its job must be created; the rest is for clocks that differ. */
const CREATE_SHARE = 0.5;
/** Part of that time after which a hold that took so long to append gets its release timer anew. */
const SLOW_SHARE = 0.25;

/** A request that waited this long, in ms, is not begun: its caller would be gone, and the hold an orphan. */
const BEGIN_WITHIN_MS = LEDGER_TIMEOUT_MS * 0.6;
/** Organizations of which is kept when their jobs were looked at; one that is forgotten is looked at once more. */
const LOOKS_MAX = 10_000;

/** What holding credits needs. */
export type AdmissionParts = {
  readonly nc: NatsConnection;
  readonly store: EventStore;
  readonly books: Books;
  readonly clock: Clock;
  /** After this time in ms a hold whose job was not created is released. */
  readonly holdReleaseMs: number;
};

/** Decides about requests for credits. `receivedMs` is when a request came, by `performance.now()`. */
export class Admission {
  readonly #parts: AdmissionParts;
  /** When the last look at ended jobs before a refusal began, by organization; latest last. */
  readonly #looks = new Map<string, number>();

  constructor(parts: AdmissionParts) {
    this.#parts = parts;
  }

  /**
   * Holds credits for a job, once for each job id (D29). The answer's balance is exact after the hold. Every refusal
   * is an answer; throws `TransientError` when the log is away or the request had to wait too long.
   */
  async hold(request: HoldRequest, receivedMs: number): Promise<HoldAnswer> {
    let isScheduled = false;
    const ensureRelease = async (): Promise<void> => {
      if (!isScheduled) await this.#scheduleRelease(request);
      isScheduled = true;
    };
    // Set outside of the turn when it will be needed, so that the next decision need not wait for it.
    if (this.#looksAffordable(request)) await ensureRelease();
    return this.#inTurn(request.organization_id, receivedMs, async () => {
      const answer = await this.#tryHold(request, receivedMs, ensureRelease);
      if (answer.ok || answer.code !== 'insufficient_credits' || this.#lookedSince(request.organization_id, receivedMs)) return answer;
      await this.#lookAtEndedJobs(request);
      return this.#tryHold(request, receivedMs, ensureRelease);
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

  async #tryHold(request: HoldRequest, receivedMs: number, ensureRelease: () => Promise<void>): Promise<HoldAnswer> {
    const { books, holdReleaseMs } = this.#parts;
    try {
      const { state, appended } = await books.decide(intentOf(request, ensureRelease));
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

  #looksAffordable(request: HoldRequest): boolean {
    const { tables } = this.#parts.books;
    return !tables.findHold(request.job_id) && balanceOf(tables.readState(request.organization_id, undefined)) >= request.amount;
  }

  /** True when somebody looked after this request came: whatever had ended before it is settled already. */
  #lookedSince(organizationId: string, receivedMs: number): boolean {
    return (this.#looks.get(organizationId) ?? -Infinity) >= receivedMs;
  }

  async #lookAtEndedJobs(request: HoldRequest): Promise<void> {
    const { books, store } = this.#parts;
    const beganMs = performance.now();
    await settleEndedJobs(books, store, request.organization_id, request.amount);
    this.#looks.delete(request.organization_id);
    this.#looks.set(request.organization_id, beganMs);
    const [oldest] = this.#looks.keys();
    if (this.#looks.size > LOOKS_MAX && oldest !== undefined) this.#looks.delete(oldest);
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

function intentOf(request: HoldRequest, ensureRelease: () => Promise<void>): Intent {
  const { organization_id: organizationId, job_id: jobId } = request;
  return {
    organizationId,
    jobId,
    command: { type: 'hold', job_id: jobId, amount: request.amount },
    // The id follows from the job, so that whichever ledger is asked again appends the same event.
    origin: { commandId: deriveId('hold', organizationId, jobId), correlationId: request.correlation_id, causationId: request.command_id, actor: request.actor },
    // Before the event: a timer without a hold does nothing, a hold without a timer could stay for ever.
    beforeAppend: ensureRelease,
  };
}

function refusalOf(error: unknown, request: HoldRequest): HoldAnswer {
  if (!(error instanceof DomainError)) throw error;
  if (error.code === 'already_settled') return { ok: false, code: 'already_settled' };
  if (error.code !== 'insufficient_credits') throw error;
  return { ok: false, code: 'insufficient_credits', credits_required: request.amount, credits_available: Number(error.details['credits_available']) };
}
