import { expect } from 'chai';
import { Places } from '../../shared/consume/places.ts';

describe('The places of a worker', () => {
  it('are given on in the order in which they were asked for', async () => {
    const places = new Places(2);
    await places.take();
    await places.take();
    const order: string[] = [];
    const waiting = ['first', 'second'].map((name) => places.take().then(() => order.push(name)));
    places.giveBack();
    await waiting[0];
    expect(order).to.deep.equal(['first']);
    places.giveBack();
    await waiting[1];
    expect(order).to.deep.equal(['first', 'second']);
  });

  it('are all free when the last one is given back, and not before', async () => {
    const places = new Places(2);
    await places.allFree();
    await Promise.all([places.take(), places.take()]);
    let isFree = false;
    const freed = places.allFree().then(() => (isFree = true));
    places.giveBack();
    await Promise.resolve();
    expect(isFree).to.equal(false);
    places.giveBack();
    await freed;
    expect(isFree).to.equal(true);
  });
});
