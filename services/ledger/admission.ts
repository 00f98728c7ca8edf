import type { NatsConnection } from '@nats-io/transport-node';
import { isoTime, type Clock } from '../../shared/clock/clock.ts';
import { balanceOf } from '../../shared/domain/credits.ts';
import { Defect, DomainError } from '../../shared/errors/errors.ts';
import { deriveId } from '../../shared/ids/ids.ts';
import type { GrantAnswer, GrantRequest, HoldAnswer, HoldRequest } from '../../shared/ledger-client/messages.ts';
import type { EventStore } from '../../shared/store/event-store.ts';
import { scheduleTimer } from '../../shared/timers/timers.ts';
import type { Books, Intent } from './books.ts';
import { settleEndedJobs } from './catch-up.ts';

/** Part of the time until a hold is released in which its job must be created; the rest is for clocks that differ. */
const CREATE_SHARE = 0.5;
/** Part of that time after which a hold that took so long to append gets its release timer anew. */
const SLOW_SHARE = 0.25;

/** What holding credits needs. */
export type AdmissionParts = {
  readonly nc: NatsConnection;
  readonly store: EventStore;
  readonly books: Books;
  readonly clock: Clock;
  /** After this time in ms a hold whose job was not created is released. */
  readonly holdReleaseMs: number;
};

/** Decides about requests for credits. */
export class Admission {
  readonly #parts: AdmissionParts;

  constructor(parts: AdmissionParts) {
    this.#parts = parts;
  }

  /**
   * Holds credits for a job, once for each job id (D29). The answer's balance is exact after the hold. Call it inside
   * `books.inTurn`. Every refusal is an answer; throws `TransientError` when the log is away.
   */
  async hold(request: HoldRequest): Promise<HoldAnswer> {
    const answer = await this.#tryHold(request);
    if (answer.ok || answer.code !== 'insufficient_credits') return answer;
    const { books, store } = this.#parts;
    await settleEndedJobs(books, store, request.organization_id, request.amount);
    return this.#tryHold(request);
  }

  /** Gives an organization credits, once for each command id. Call it inside `books.inTurn`. Throws `TransientError`. */
  async grant(request: GrantRequest): Promise<GrantAnswer> {
    const { books } = this.#parts;
    const { organization_id: organizationId, amount, reason, command_id: commandId } = request;
    await books.catchUp();
    const { state, appended } = await books.decide({
      organizationId,
      command: { type: 'grant', data: reason === undefined ? { amount } : { amount, reason } },
      origin: { commandId, correlationId: request.correlation_id, causationId: commandId, actor: request.actor },
    });
    const position = appended?.position ?? books.tables.findGrant(commandId, organizationId);
    if (position === undefined) throw new Defect('a grant appended nothing');
    return { balance: balanceOf(state), position };
  }

  async #tryHold(request: HoldRequest): Promise<HoldAnswer> {
    const { books, holdReleaseMs } = this.#parts;
    const started = performance.now();
    try {
      const { state, appended } = await books.decide(this.#intentOf(request));
      // Were this process paused in between, the timer could have fired before there was anything to release.
      if (appended && performance.now() - started > holdReleaseMs * SLOW_SHARE) await this.#scheduleRelease(request);
      const hold = appended ? { position: appended.position, held_at: appended.envelope.time } : books.tables.findHold(request.job_id);
      if (!hold) throw new Defect('a hold appended nothing');
      const createBeforeMs = Date.parse(hold.held_at) + holdReleaseMs * CREATE_SHARE;
      return { ok: true, balance: balanceOf(state), position: hold.position, create_before: isoTime(createBeforeMs) };
    } catch (error) {
      return refusalOf(error, request);
    }
  }

  #intentOf(request: HoldRequest): Intent {
    const { organization_id: organizationId, job_id: jobId } = request;
    return {
      organizationId,
      jobId,
      command: { type: 'hold', job_id: jobId, amount: request.amount },
      // The id follows from the job, so that whichever ledger is asked again appends the same event.
      origin: { commandId: deriveId('hold', organizationId, jobId), correlationId: request.correlation_id, causationId: request.command_id, actor: request.actor },
      // Before the event: a timer without a hold does nothing, a hold without a timer could stay for ever.
      beforeAppend: () => this.#scheduleRelease(request),
    };
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

function refusalOf(error: unknown, request: HoldRequest): HoldAnswer {
  if (!(error instanceof DomainError)) throw error;
  if (error.code === 'already_settled') return { ok: false, code: 'already_settled' };
  if (error.code !== 'insufficient_credits') throw error;
  return { ok: false, code: 'insufficient_credits', credits_required: request.amount, credits_available: Number(error.details['credits_available']) };
}
