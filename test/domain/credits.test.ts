import { expect } from 'chai';
import fc from 'fast-check';
import { balanceOf, creditsDecider, type CreditsCommand, type CreditsState } from '../../shared/domain/credits.ts';
import { fold } from '../../shared/domain/decider.ts';
import { Defect, DomainError } from '../../shared/errors/errors.ts';
import type { CreditsEvent } from '../../shared/events/registry.ts';
import { deriveId } from '../../shared/ids/ids.ts';
import { specify } from '../support/decider-spec.ts';

const given = specify(creditsDecider);
const JOB = deriveId('job', 1);
const OTHER = deriveId('job', 2);
const USAGE = { billable_ms: 90_000, speed_factor: 1, weight: 1 };

const granted = (amount: number): CreditsEvent => ({ type: 'credits.granted', data: { amount } });
const held = (job_id: string, amount: number): CreditsEvent => ({ type: 'credits.held', data: { job_id, amount } });
const charged = (job_id: string, amount: number, hold: number): CreditsEvent => ({ type: 'credits.charged', data: { job_id, amount, held: hold, ...USAGE } });
const released = (job_id: string, amount: number): CreditsEvent => ({ type: 'credits.released', data: { job_id, amount, reason: 'failed' } });

const hold = (job_id: string, amount: number): CreditsCommand => ({ type: 'hold', job_id, amount });
const capped = (job_id: string, count: number): CreditsCommand => ({ type: 'hold', job_id, amount: 1, active: { count, max: 5 } });
const charge = (job_id: string, amount: number): CreditsCommand => ({ type: 'charge', data: { job_id, amount, ...USAGE } });
const release = (job_id: string): CreditsCommand => ({ type: 'release', job_id, reason: 'failed' });

describe('credits of an organization', () => {
  it('are granted by an operator', () => {
    given([]).when({ type: 'grant', data: { amount: 5 } }).thenDecides(granted(5));
    given([granted(5)]).when({ type: 'grant', data: { amount: 5 } }).thenDecides(granted(5));
  });

  describe('held for a job', () => {
    it('come out of the balance, to the last credit', () => {
      given([granted(5)]).when(hold(JOB, 5)).thenDecides(held(JOB, 5));
      given([granted(5), held(OTHER, 3)]).when(hold(JOB, 2)).thenDecides(held(JOB, 2));
    });

    it('are refused beyond the balance, with both numbers', () => {
      given([]).when(hold(JOB, 1)).thenRefused('insufficient_credits', { credits_required: 1, credits_available: 0 });
      given([granted(5), held(OTHER, 3)]).when(hold(JOB, 3)).thenRefused('insufficient_credits', { credits_required: 3, credits_available: 2 });
      given([granted(5), held(OTHER, 3), charged(OTHER, 1, 3)]).when(hold(JOB, 5)).thenRefused('insufficient_credits', { credits_required: 5, credits_available: 4 });
    });

    it('are held once', () => {
      given([granted(5), held(JOB, 5)]).when(hold(JOB, 5)).thenDecides(null);
    });

    it('are never held again after their end', () => {
      given([granted(5), held(JOB, 2), charged(JOB, 1, 2)]).when(hold(JOB, 2)).thenRefused('already_settled');
      given([granted(5), held(JOB, 2), released(JOB, 2)]).when(hold(JOB, 2)).thenRefused('already_settled');
    });
  });

  describe('held under a cap of active jobs (§8 rate limits 6)', () => {
    it('are held up to the cap and refused at it, with the limit', () => {
      given([granted(9)]).when(capped(JOB, 4)).thenDecides(held(JOB, 1));
      given([granted(9)]).when(capped(JOB, 5)).thenRefused('active_job_limit_reached', { limit: 5 });
      given([granted(9)]).when(capped(JOB, 6)).thenRefused('active_job_limit_reached', { limit: 5 });
    });

    it('are refused for the cap before the balance is looked at (D1)', () => {
      given([]).when(capped(JOB, 5)).thenRefused('active_job_limit_reached', { limit: 5 });
      given([]).when(capped(JOB, 4)).thenRefused('insufficient_credits');
    });

    it('are held once although the job now counts itself', () => {
      given([granted(9), held(JOB, 1)]).when(capped(JOB, 5)).thenDecides(null);
    });

    it('never belong to more jobs than the cap, and one is refused only at the cap, whatever ends in between (D29)', () => {
      fc.assert(
        fc.property(fc.array(commands.filter(({ type }) => type !== 'grant'), { maxLength: 60 }), fc.integer({ min: 1, max: 4 }), (asked, max) => {
          let state = creditsDecider.evolve(creditsDecider.initialState, granted(1_000));
          for (const command of asked) {
            const count = [...state.holds.values()].filter(({ status }) => status === 'held').length;
            const known = command.type === 'hold' && state.holds.has(command.job_id);
            const event = decideOrRefuse(command.type === 'hold' ? { ...command, active: { count, max } } : command, state);
            if (command.type === 'hold' && !known) expect(event !== undefined).to.equal(count < max);
            if (event) state = creditsDecider.evolve(state, event);
            expect([...state.holds.values()].filter(({ status }) => status === 'held').length).to.be.at.most(max);
          }
        }),
      );
    });
  });

  describe('charged for a job', () => {
    it('end the hold; what is not charged returns to the balance', () => {
      given([granted(5), held(JOB, 4)]).when(charge(JOB, 2)).thenDecides(charged(JOB, 2, 4));
      expect(balanceOf(fold(creditsDecider, [granted(5), held(JOB, 4), charged(JOB, 2, 4)]))).to.equal(3);
    });

    it('are charged once', () => {
      given([granted(5), held(JOB, 4), charged(JOB, 2, 4)]).when(charge(JOB, 2)).thenDecides(null);
    });

    it('must be held, and held still', () => {
      expect(() => given([granted(5)]).when(charge(JOB, 2)).thenDecides(null)).to.throw(Defect);
      expect(() => given([granted(5), held(JOB, 4), released(JOB, 4)]).when(charge(JOB, 2)).thenDecides(null)).to.throw(Defect);
    });

    it('are never more than was held', () => {
      expect(() => given([granted(5), held(JOB, 1)]).when(charge(JOB, 2)).thenDecides(null)).to.throw(Defect);
    });
  });

  describe('released for a job', () => {
    it('return to the balance in full', () => {
      given([granted(5), held(JOB, 4)]).when(release(JOB)).thenDecides(released(JOB, 4));
      expect(balanceOf(fold(creditsDecider, [granted(5), held(JOB, 4), released(JOB, 4)]))).to.equal(5);
    });

    it('are released once, and not after a charge, nor without a hold', () => {
      given([granted(5), held(JOB, 4), released(JOB, 4)]).when(release(JOB)).thenDecides(null);
      given([granted(5), held(JOB, 4), charged(JOB, 4, 4)]).when(release(JOB)).thenDecides(null);
      given([granted(5)]).when(release(JOB)).thenDecides(null);
    });
  });

  it('are conserved and never below zero, whatever is asked in whatever order, each job ending once', () => {
    fc.assert(
      fc.property(fc.array(commands, { maxLength: 60 }), (asked) => {
        let state = creditsDecider.initialState;
        const ends = new Map<string, number>();
        for (const command of asked) {
          const event = decideOrRefuse(command, state);
          if (!event) continue;
          if (event.type === 'credits.charged' || event.type === 'credits.released') ends.set(event.data.job_id, (ends.get(event.data.job_id) ?? 0) + 1);
          state = creditsDecider.evolve(state, event);
          expectConserved(state);
        }
        for (const count of ends.values()) expect(count).to.equal(1);
      }),
      { numRuns: 500 },
    );
  });

  it('are the same when every command is repeated any number of times', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(commands.filter(({ type }) => type !== 'grant'), fc.integer({ min: 1, max: 3 })), { maxLength: 40 }), (asked) => {
        const start = creditsDecider.evolve(creditsDecider.initialState, granted(20));
        const once = asked.reduce((state, [command]) => step(command, state), start);
        const often = asked.reduce((state, [command, times]) => Array.from({ length: times }).reduce<CreditsState>((next) => step(command, next), state), start);
        expect(often).to.deep.equal(once);
      }),
    );
  });
});

const jobs = fc.integer({ min: 1, max: 6 }).map((number) => deriveId('job', number));
const amounts = fc.integer({ min: 1, max: 8 });
const commands: fc.Arbitrary<CreditsCommand> = fc.oneof(
  amounts.map((amount): CreditsCommand => ({ type: 'grant', data: { amount } })),
  fc.tuple(jobs, amounts).map(([job, amount]) => hold(job, amount)),
  fc.tuple(jobs, amounts).map(([job, amount]) => charge(job, amount)),
  jobs.map(release),
);

/** The event, or undefined when there is none, or the command is refused. */
function decideOrRefuse(command: CreditsCommand, state: CreditsState): CreditsEvent | undefined {
  try {
    return creditsDecider.decide(command, state) ?? undefined;
  } catch (error) {
    if (error instanceof DomainError || error instanceof Defect) return undefined;
    throw error;
  }
}

function step(command: CreditsCommand, state: CreditsState): CreditsState {
  const event = decideOrRefuse(command, state);
  return event ? creditsDecider.evolve(state, event) : state;
}

/** Sums and holds agree: `granted = balance + held + charged`, and what is held is the sum of the open holds. */
function expectConserved(state: CreditsState): void {
  const open = [...state.holds.values()].filter(({ status }) => status === 'held').reduce((sum, { amount }) => sum + amount, 0);
  expect(state.held).to.equal(open);
  expect(state.granted).to.equal(balanceOf(state) + state.held + state.charged);
  for (const number of [state.granted, state.held, state.charged, balanceOf(state)]) expect(number).to.be.at.least(0);
}
