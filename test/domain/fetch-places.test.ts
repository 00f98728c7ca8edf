import { expect } from 'chai';
import fc from 'fast-check';
import { FetchPlaces } from '../../services/importer/fetch/fetch-places.ts';

describe('Places for fetches', () => {
  it('leave a newcomer one, however many one organization wants', () => {
    const places = new FetchPlaces(100);
    const taken = Array.from({ length: 200 }, () => places.take('greedy')).filter((giveBack) => giveBack !== undefined);
    expect(taken).to.have.length(50);
    for (const name of ['a', 'b', 'c']) expect(places.take(name), name).not.to.equal(undefined);
  });

  it('are there again when they are given back', () => {
    const places = new FetchPlaces(2);
    const giveBack = places.take('a');
    expect(places.take('a')).to.equal(undefined);
    giveBack?.();
    expect(places.take('a')).not.to.equal(undefined);
  });

  it('serve one organization even where there is only one', () => {
    const places = new FetchPlaces(1);
    const giveBack = places.take('a');
    expect(giveBack).not.to.equal(undefined);
    expect(places.take('b')).to.equal(undefined);
    giveBack?.();
    expect(places.take('b')).not.to.equal(undefined);
  });

  it('are never more than there are, and never lost', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.boolean()), { maxLength: 200 }), (total, steps) => {
        const places = new FetchPlaces(total);
        const held: (() => void)[] = [];
        for (const [name, isTake] of steps) {
          if (!isTake) held.shift()?.();
          else {
            const giveBack = places.take(name);
            if (giveBack) held.push(giveBack);
          }
          expect(held.length).to.be.at.most(total);
        }
        for (const giveBack of held) giveBack();
        const all = Array.from({ length: total }, (_, index) => places.take(`new-${index}`));
        expect(all.filter((giveBack) => giveBack !== undefined)).to.have.length(total);
      }),
    );
  });
});
