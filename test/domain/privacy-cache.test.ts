import { expect } from 'chai';
import { ExpiringCache } from '../../shared/privacy/expiring-cache.ts';

describe('the cache of data keys', () => {
  const clock = { ms: 0, nowMs: () => clock.ms };
  const cacheOf = (entriesMax: number) => new ExpiringCache<number>({ entriesMax, keepMs: 100 }, clock);

  it('forgets an entry when its time is over, however often it was used', () => {
    const cache = cacheOf(10);
    cache.set('a', 1);
    clock.ms += 99;
    expect(cache.get('a')).to.equal(1);
    clock.ms += 1;
    expect(cache.get('a')).to.equal(undefined);
  });

  it('keeps no more than its bound and lets the least recently used go', () => {
    const cache = cacheOf(2);
    cache.set('a', 1);
    cache.set('b', 2);
    cache.get('a');
    cache.set('c', 3);
    expect([cache.get('a'), cache.get('b'), cache.get('c')]).to.deep.equal([1, undefined, 3]);
  });

  it('forgets at once what is deleted', () => {
    const cache = cacheOf(2);
    cache.set('a', 1);
    cache.delete('a');
    expect(cache.get('a')).to.equal(undefined);
  });
});
