import { expect } from 'chai';
import fc from 'fast-check';
import { DELIVERY_ATTEMPTS_MAX, deliveryDecider, isDeliveryOver, type AttemptResult, type DeliveryCommand, type DeliveryState } from '../../shared/domain/delivery.ts';
import { fold } from '../../shared/domain/decider.ts';
import { DomainError } from '../../shared/errors/errors.ts';
import { EVENT_VERSIONS, type DeliveryEvent } from '../../shared/events/registry.ts';
import { specify } from '../support/decider-spec.ts';
import { at, attemptDelivered, attemptFailed, attemptInterrupted, attemptStarted, deliveryQueued, deliveryStopped } from '../support/webhook-events.ts';

const given = specify(deliveryDecider);

/** The waits of §6 after the first, second, third and fourth failure. */
const DELAYS_MS = [60_000, 300_000, 900_000, 3_600_000];
const LOST_AFTER_MS = 30_000;
const DELIVERED: AttemptResult = { outcome: 'delivered', status_code: 204, duration_ms: 30 };
const FAILED: AttemptResult = { outcome: 'failed', failure: 'http_status', status_code: 500, duration_ms: 30 };
const GONE: AttemptResult = { ...FAILED, status_code: 410 };

const start = (ms: number): DeliveryCommand => ({ type: 'start_attempt', now: at(ms) });
const record = (attempt: number, result: AttemptResult, ms: number, delays_ms = DELAYS_MS): DeliveryCommand => ({ type: 'record_attempt', attempt, result, now: at(ms), delays_ms });
const interrupt = (ms: number, delays_ms = DELAYS_MS): DeliveryCommand => ({ type: 'interrupt_attempt', now: at(ms), lost_after_ms: LOST_AFTER_MS, delays_ms });
const stop: DeliveryCommand = { type: 'stop', reason: 'endpoint_disabled' };

const queued = deliveryQueued();
/** A delivery of which so many attempts failed, and the next is due at `nextMs` or never. */
const failedTimes = (times: number, nextMs?: number): DeliveryEvent[] => [
  queued,
  ...Array.from({ length: times }, (_, index) => [attemptStarted(index + 1, index), attemptFailed(index + 1, index + 1 < times ? index : nextMs)]).flat(),
];
const interrupted = (attempt: number, nextMs?: number): DeliveryEvent => attemptInterrupted(attempt, LOST_AFTER_MS, nextMs);

const ENDED: Readonly<Record<string, readonly DeliveryEvent[]>> = {
  delivered: [queued, attemptStarted(1, 0), attemptDelivered(1)],
  failed: failedTimes(5),
  stopped: [queued, deliveryStopped],
};

describe('a delivery to an endpoint', () => {
  it('is queued once, whoever queues it', () => {
    given([]).when({ type: 'queue', data: queued.data }).thenDecides(queued);
    given([queued]).when({ type: 'queue', data: queued.data }).thenDecides(null);
    given([queued, attemptStarted(1, 0), attemptDelivered(1)]).when({ type: 'queue', data: queued.data }).thenDecides(null);
  });

  it('must have been queued before anything else happens to it', () => {
    for (const command of [start(0), record(1, DELIVERED, 0), interrupt(0), stop]) given([]).when(command).thenRefused('not_found');
  });

  it('is attempted at once, and again when the time of the next attempt has come (§6 delivery 2)', () => {
    given([queued]).when(start(0)).thenDecides(attemptStarted(1, 0));
    given(failedTimes(1, 60_000)).when(start(59_999)).thenRefused('not_due', { due_at: at(60_000) });
    given(failedTimes(1, 60_000)).when(start(60_000)).thenDecides(attemptStarted(2, 60_000));
    given(failedTimes(4, 60_000)).when(start(90_000)).thenDecides(attemptStarted(5, 90_000));
  });

  it('is attempted by one at a time', () => {
    given([queued, attemptStarted(1, 0)]).when(start(1)).thenRefused('attempt_open');
  });

  it('ends with the first success', () => {
    given([queued, attemptStarted(1, 0)]).when(record(1, DELIVERED, 10)).thenDecides(attemptDelivered(1));
  });

  it('waits after each failure for as long as §6 says, counted from that failure, and ends with the fifth (§6 delivery 2, D70)', () => {
    for (const [index, delay] of DELAYS_MS.entries()) {
      const attempt = index + 1;
      given([...failedTimes(index, 0), attemptStarted(attempt, 500)]).when(record(attempt, FAILED, 777, DELAYS_MS)).thenDecides(attemptFailed(attempt, 777 + delay));
    }
    given([...failedTimes(4, 0), attemptStarted(5, 500)]).when(record(5, FAILED, 777)).thenDecides(attemptFailed(5));
  });

  it('has fewer attempts where fewer waits are set, and never more than five', () => {
    given([queued, attemptStarted(1, 0)]).when(record(1, FAILED, 10, [])).thenDecides(attemptFailed(1));
    given([...failedTimes(1, 0), attemptStarted(2, 5)]).when(record(2, FAILED, 10, [1])).thenDecides(attemptFailed(2));
    given([...failedTimes(4, 0), attemptStarted(5, 5)]).when(record(5, FAILED, 10, [1, 1, 1, 1, 1, 1])).thenDecides(attemptFailed(5));
  });

  it('ends at once when the endpoint answers 410 (§6 delivery 3)', () => {
    given([queued, attemptStarted(1, 0)]).when(record(1, GONE, 10)).thenDecides(attemptFailed(1, undefined, { status_code: 410 }));
  });

  it('takes the outcome of the attempt that is open and of no other', () => {
    given([queued]).when(record(1, DELIVERED, 10)).thenRefused('attempt_fenced');
    given([queued, attemptStarted(1, 0)]).when(record(2, DELIVERED, 10)).thenRefused('attempt_fenced');
    given(failedTimes(1, 60_000)).when(record(1, DELIVERED, 10)).thenRefused('attempt_fenced');
    given([...failedTimes(1, 0), attemptStarted(2, 5)]).when(record(1, DELIVERED, 10)).thenRefused('attempt_fenced');
    for (const events of Object.values(ENDED)) given(events).when(record(1, DELIVERED, 10)).thenRefused('attempt_fenced');
  });

  describe('whose attempt nobody records', () => {
    it('counts it as failed once it was lost for long enough, and is attempted again at once', () => {
      given([queued, attemptStarted(1, 0)]).when(interrupt(LOST_AFTER_MS - 1)).thenRefused('attempt_open', { due_at: at(LOST_AFTER_MS) });
      given([queued, attemptStarted(1, 0)]).when(interrupt(LOST_AFTER_MS)).thenDecides(interrupted(1, LOST_AFTER_MS));
      given([queued, attemptStarted(1, 0), interrupted(1, LOST_AFTER_MS)]).when(start(LOST_AFTER_MS)).thenDecides(attemptStarted(2, LOST_AFTER_MS));
    });

    it('ends when that was the last', () => {
      given([...failedTimes(4, 0), attemptStarted(5, 0)]).when(interrupt(LOST_AFTER_MS)).thenDecides(interrupted(5));
      given([queued, attemptStarted(1, 0)]).when(interrupt(LOST_AFTER_MS, [])).thenDecides(interrupted(1));
    });

    it('has nothing to interrupt when no attempt is open', () => {
      given([queued]).when(interrupt(LOST_AFTER_MS)).thenDecides(null);
      given(failedTimes(1, 60_000)).when(interrupt(LOST_AFTER_MS)).thenDecides(null);
      for (const events of Object.values(ENDED)) given(events).when(interrupt(LOST_AFTER_MS)).thenDecides(null);
    });

    it('never has a duration below zero, whatever the clocks of two machines say', () => {
      const early: DeliveryCommand = { type: 'interrupt_attempt', now: at(0), lost_after_ms: -5_000, delays_ms: [] };
      given([queued, attemptStarted(1, 1_000)]).when(early).thenDecides(attemptInterrupted(1, 0));
    });
  });

  it('is stopped when its endpoint is disabled or deleted, but not in the middle of an attempt (D72)', () => {
    given([queued]).when(stop).thenDecides(deliveryStopped);
    given(failedTimes(2, 60_000)).when({ type: 'stop', reason: 'endpoint_deleted' }).thenDecides({ type: 'delivery.stopped', data: { reason: 'endpoint_deleted' } });
    given([queued, attemptStarted(1, 0)]).when(stop).thenRefused('attempt_open');
  });

  for (const [status, events] of Object.entries(ENDED)) {
    it(`is over when it is ${status}`, () => {
      expect(fold(deliveryDecider, events)).to.include({ kind: 'live', status });
      given(events).when(start(9_999_999)).thenRefused('over');
      given(events).when(stop).thenDecides(null);
    });
  }

  it('tells how it stands: the attempt that is open, the last outcome, when the next is due', () => {
    expect(fold(deliveryDecider, [queued])).to.deep.equal({ kind: 'live', status: 'queued', queued: queued.data, attempts: 0 });
    expect(fold(deliveryDecider, [queued, attemptStarted(1, 5)])).to.deep.equal({ kind: 'live', status: 'queued', queued: queued.data, attempts: 1, open: { attempt: 1, started_at: at(5) } });
    const failure = attemptFailed(1, 60_000);
    expect(fold(deliveryDecider, [queued, attemptStarted(1, 5), failure])).to.deep.equal({ kind: 'live', status: 'retrying', queued: queued.data, attempts: 1, last: failure.data, next_attempt_at: at(60_000) });
    expect(fold(deliveryDecider, [queued, attemptStarted(1, 5), failure, attemptStarted(2, 60_000)])).to.include({ status: 'retrying', attempts: 2 }).and.not.to.have.property('next_attempt_at');
    expect(fold(deliveryDecider, [attemptStarted(1, 5)])).to.deep.equal({ kind: 'none' });
  });

  it('never has more than five attempts, two at once, or anything after its end, whatever is asked in whatever order', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(commands, fc.integer({ min: 0, max: 4_000_000 })), { maxLength: 60 }), (asked) => {
        let state: DeliveryState = deliveryDecider.initialState;
        let ms = 0;
        let posts = 0;
        for (const [command, passed] of asked) {
          ms += passed;
          const event = decideOrRefuse(command(ms, state), state);
          if (!event) continue;
          expect(EVENT_VERSIONS[event.type][0].schema.safeParse(event.data).success, JSON.stringify(event)).to.equal(true);
          if (state.kind === 'live') expect(isDeliveryOver(state)).to.equal(false);
          if (event.type === 'delivery.attempt_started') posts += 1;
          state = deliveryDecider.evolve(state, event);
          expect(posts).to.be.at.most(DELIVERY_ATTEMPTS_MAX);
          if (state.kind === 'live') expect(state.attempts).to.equal(posts);
          if (state.kind === 'live' && isDeliveryOver(state)) expect(state).to.not.have.any.keys('open', 'next_attempt_at');
        }
      }),
      { numRuns: 500 },
    );
  });
});

const results = fc.constantFrom(DELIVERED, FAILED, FAILED, GONE, { outcome: 'failed', failure: 'timeout', duration_ms: 10_000 } as const);
/** Commands at a moment; what is recorded is mostly the attempt that is open. */
const commands: fc.Arbitrary<(ms: number, state: DeliveryState) => DeliveryCommand> = fc.oneof(
  fc.constant((): DeliveryCommand => ({ type: 'queue', data: queued.data })),
  fc.constant((ms: number) => start(ms)),
  fc.tuple(results, fc.option(fc.integer({ min: 1, max: 5 }))).map(([result, other]) => (ms: number, state: DeliveryState) => record(other ?? openAttempt(state), result, ms)),
  fc.constant((ms: number) => interrupt(ms)),
  fc.constant(() => stop),
);

function openAttempt(state: DeliveryState): number {
  return state.kind === 'live' ? (state.open?.attempt ?? 1) : 1;
}

/** The event, or undefined when there is none, or the command is refused. */
function decideOrRefuse(command: DeliveryCommand, state: DeliveryState): DeliveryEvent | undefined {
  try {
    return deliveryDecider.decide(command, state) ?? undefined;
  } catch (error) {
    if (error instanceof DomainError) return undefined;
    throw error;
  }
}
