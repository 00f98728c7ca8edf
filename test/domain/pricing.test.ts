import { expect } from 'chai';
import fc from 'fast-check';
import { chargeFor, creditsByFormula, SPEED_FACTOR } from '../../shared/domain/pricing.ts';

/** Usage within what events allow: two days, every weight and speed factor there could be. */
const usages = fc.record({ billable_ms: fc.integer({ min: 0, max: 2 * 86_400_000 }), speed_factor: fc.integer({ min: 1, max: 100 }), weight: fc.integer({ min: 1, max: 100 }) });
const holds = fc.integer({ min: 1, max: 1_000 });

/** Milliseconds, weight, and the credits that §2.7 says. */
const EXAMPLES = [
  [0, 1, 1], [1, 1, 1], [59_999, 1, 1], [60_000, 1, 1], [60_001, 1, 2], [120_000, 1, 2], [120_001, 1, 3],
  [0, 4, 1], [1, 4, 4], [60_000, 2, 2], [60_001, 2, 4], [90_000, 4, 8],
] as const;

describe('the price of a conversion', () => {
  for (const [billable_ms, weight, credits] of EXAMPLES) {
    it(`is ${credits} for ${billable_ms} ms with weight ${weight}`, () => {
      expect(creditsByFormula({ billable_ms, speed_factor: SPEED_FACTOR, weight })).to.equal(credits);
    });
  }

  it('counts a speed factor as that many times the time', () => {
    expect(creditsByFormula({ billable_ms: 30_000, speed_factor: 3, weight: 1 })).to.equal(2);
  });

  it('is charged up to what was held, and not beyond (D24)', () => {
    const usage = { billable_ms: 600_000, speed_factor: 1, weight: 2 };
    expect(chargeFor(usage, 20)).to.equal(20);
    expect(chargeFor(usage, 21)).to.equal(20);
    expect(chargeFor(usage, 5)).to.equal(5);
  });

  it('is a whole number of credits, at least 1, whatever was used', () => {
    fc.assert(
      fc.property(usages, holds, (usage, held) => {
        const charge = chargeFor(usage, held);
        expect(Number.isSafeInteger(charge)).to.equal(true);
        expect(charge).to.be.within(1, held);
      }),
    );
  });

  it('never falls when a conversion takes longer or weighs more', () => {
    fc.assert(
      fc.property(usages, fc.integer({ min: 0, max: 3_600_000 }), (usage, moreMs) => {
        expect(creditsByFormula({ ...usage, billable_ms: usage.billable_ms + moreMs })).to.be.at.least(creditsByFormula(usage));
        expect(creditsByFormula({ ...usage, weight: usage.weight + 1 })).to.be.at.least(creditsByFormula(usage));
      }),
    );
  });
});
