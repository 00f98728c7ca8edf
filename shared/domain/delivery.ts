import { DomainError } from '../errors/errors.ts';
import type { DeliveryEvent, EventData } from '../events/registry.ts';
import type { Decider } from './decider.ts';

/** Attempts of one delivery, the first included (§6 delivery 2). */
export const DELIVERY_ATTEMPTS_MAX = 5;
/** Answer of an endpoint that wants no more; it ends the delivery (§6 delivery 3). */
export const STATUS_GONE = 410;

/** How long deliveries and their history are kept, in ms (§6 delivery 4); none takes longer than some hours. */
export const DELIVERIES_KEPT_MS = 30 * 24 * 3_600_000;
/**
 * An event that is older than this, in ms, is not queued any more: its delivery may have been made and forgotten, and
 * would be made once more.
 */
export const EVENT_AGE_MS_MAX = DELIVERIES_KEPT_MS - 3_600_000;

/** How a delivery stands. `queued` and `retrying` also while an attempt is being made. */
export const DELIVERY_STATUSES = ['queued', 'retrying', 'delivered', 'failed', 'stopped'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

type Attempted = EventData<'delivery.attempted'>;

/** A delivery that was queued. */
export type LiveDelivery = {
  readonly kind: 'live';
  readonly status: DeliveryStatus;
  readonly queued: EventData<'delivery.queued'>;
  /** Attempts that were started. */
  readonly attempts: number;
  /** The attempt that was started and whose outcome is not known. */
  readonly open?: EventData<'delivery.attempt_started'>;
  /** The outcome that was recorded last. */
  readonly last?: Attempted;
  /** When the next attempt is due while `retrying`. */
  readonly next_attempt_at?: string;
};

/** What the events of one delivery say. */
export type DeliveryState = { readonly kind: 'none' } | LiveDelivery;

/** What came of an attempt, as the sender tells it. */
export type AttemptResult = Pick<Attempted, 'outcome' | 'failure' | 'status_code' | 'duration_ms'>;

/**
 * What can be asked of a delivery. Times are ISO 8601 and come from the caller's clock; `delays_ms` are the waits after the
 * first, second, … failure, and a failure beyond them is the last.
 */
export type DeliveryCommand =
  | { readonly type: 'queue'; readonly data: EventData<'delivery.queued'> }
  | { readonly type: 'start_attempt'; readonly now: string }
  | { readonly type: 'record_attempt'; readonly attempt: number; readonly result: AttemptResult; readonly now: string; readonly delays_ms: readonly number[] }
  /** Whoever finds an attempt open that was started `lost_after_ms` ago says that nobody will record it. */
  | { readonly type: 'interrupt_attempt'; readonly now: string; readonly lost_after_ms: number; readonly delays_ms: readonly number[] }
  | { readonly type: 'stop'; readonly reason: EventData<'delivery.stopped'>['reason'] };

/**
 * Codes with which a delivery refuses a command: `over` (it has ended), `not_due` and `attempt_open` (not yet; `details.due_at`
 * tells when), `attempt_fenced` (somebody else recorded the attempt, or took it for lost).
 */
export type DeliveryRefusal = 'not_found' | 'over' | 'not_due' | 'attempt_open' | 'attempt_fenced';

/** The rules of deliveries (§6 delivery and retries, D70, D72). */
export const deliveryDecider: Decider<DeliveryState, DeliveryCommand, DeliveryEvent> = {
  initialState: { kind: 'none' },
  decide(command, state) {
    // The id follows from event and endpoint, so this is the same delivery once more.
    if (command.type === 'queue') return state.kind === 'none' ? { type: 'delivery.queued', data: command.data } : null;
    if (state.kind === 'none') throw refuse('not_found', 'There is no such delivery.');
    switch (command.type) {
      case 'start_attempt':
        return startAttempt(command.now, state);
      case 'record_attempt':
        return recordAttempt(command, state);
      case 'interrupt_attempt':
        return interruptAttempt(command, state);
      case 'stop':
        return stop(command.reason, state);
      default:
        return command satisfies never;
    }
  },
  evolve(state, event) {
    if (event.type === 'delivery.queued') return { kind: 'live', status: 'queued', queued: event.data, attempts: 0 };
    if (state.kind === 'none') return state;
    const { open: _open, next_attempt_at: _next, ...rest } = state;
    switch (event.type) {
      case 'delivery.attempt_started':
        return { ...rest, attempts: event.data.attempt, open: event.data };
      case 'delivery.attempted':
        return { ...rest, ...statusAfter(event.data), last: event.data };
      case 'delivery.stopped':
        return { ...rest, status: 'stopped' };
      default:
        return event satisfies never;
    }
  },
};

/** True when no attempt follows any more. */
export function isDeliveryOver({ status }: LiveDelivery): boolean {
  return status === 'delivered' || status === 'failed' || status === 'stopped';
}

function statusAfter({ outcome, next_attempt_at }: Attempted): Pick<LiveDelivery, 'status' | 'next_attempt_at'> {
  if (outcome === 'delivered') return { status: 'delivered' };
  return next_attempt_at === undefined ? { status: 'failed' } : { status: 'retrying', next_attempt_at };
}

function startAttempt(now: string, delivery: LiveDelivery): DeliveryEvent {
  if (isDeliveryOver(delivery)) throw refuse('over', `The delivery is ${delivery.status}.`);
  if (delivery.open) throw refuse('attempt_open', `Attempt ${delivery.open.attempt} is being made.`);
  const due = delivery.next_attempt_at;
  if (due !== undefined && now < due) throw refuse('not_due', 'The next attempt is not due.', due);
  return { type: 'delivery.attempt_started', data: { attempt: delivery.attempts + 1, started_at: now } };
}

/** Only the attempt that is open can be recorded; said twice it is said once. */
function recordAttempt({ attempt, result, now, delays_ms }: Extract<DeliveryCommand, { type: 'record_attempt' }>, delivery: LiveDelivery): DeliveryEvent {
  if (delivery.open?.attempt !== attempt) throw refuse('attempt_fenced', 'The attempt was recorded already, or taken for lost.');
  if (result.outcome === 'delivered' || result.status_code === STATUS_GONE) return { type: 'delivery.attempted', data: { attempt, ...result } };
  return { type: 'delivery.attempted', data: { attempt, ...result, ...nextAttempt(attempt, now, delays_ms, delays_ms[attempt - 1]) } };
}

/** Whether the receiver got it nobody knows, so it counts as failed; the time it should have come has passed, so the next one follows at once. */
function interruptAttempt({ now, lost_after_ms, delays_ms }: Extract<DeliveryCommand, { type: 'interrupt_attempt' }>, delivery: LiveDelivery): DeliveryEvent | null {
  if (!delivery.open) return null;
  const { attempt, started_at } = delivery.open;
  const lostAt = after(started_at, lost_after_ms);
  if (now < lostAt) throw refuse('attempt_open', `Attempt ${attempt} is being made.`, lostAt);
  const duration_ms = Math.max(0, Date.parse(now) - Date.parse(started_at));
  return { type: 'delivery.attempted', data: { attempt, outcome: 'failed', failure: 'interrupted', duration_ms, ...nextAttempt(attempt, now, delays_ms, 0) } };
}

/** An attempt that is open is recorded or interrupted first, so that the history tells of every request that was made. */
function stop(reason: EventData<'delivery.stopped'>['reason'], delivery: LiveDelivery): DeliveryEvent | null {
  if (isDeliveryOver(delivery)) return null;
  if (delivery.open) throw refuse('attempt_open', `Attempt ${delivery.open.attempt} is being made.`);
  return { type: 'delivery.stopped', data: { reason } };
}

function nextAttempt(attempt: number, now: string, delays: readonly number[], delayMs: number | undefined): { readonly next_attempt_at?: string } {
  if (attempt >= Math.min(DELIVERY_ATTEMPTS_MAX, delays.length + 1)) return {};
  return { next_attempt_at: after(now, delayMs ?? 0) };
}

function after(time: string, ms: number): string {
  return new Date(Date.parse(time) + ms).toISOString();
}

function refuse(code: DeliveryRefusal, message: string, dueAt?: string): DomainError<DeliveryRefusal> {
  return new DomainError(code, message, dueAt === undefined ? {} : { due_at: dueAt });
}
