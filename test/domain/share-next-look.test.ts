import { EventEmitter, once } from 'node:events';
import { expect } from 'chai';
import { shareNextLook } from '../../shared/consume/share-next-look.ts';

/** Looks that begin one after another and end when the test says so. */
function makeLooks(): { readonly look: () => Promise<number>; readonly begun: () => number; readonly end: (error?: Error) => void } {
  const gate = new EventEmitter();
  let begun = 0;
  return {
    look: async () => {
      begun += 1;
      const mine = begun;
      const [error] = (await once(gate, 'end')) as [Error | undefined];
      if (error) throw error;
      return mine;
    },
    begun: () => begun,
    end: (error) => void gate.emit('end', error),
  };
}

/** Lets everything go on that only waits for promises. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

describe('looks that are shared', () => {
  it('begin after the question, one for all who ask meanwhile', async () => {
    const looks = makeLooks();
    const ask = shareNextLook(looks.look);
    const first = ask();
    const during = [ask(), ask(), ask()];
    expect(looks.begun()).to.equal(1);
    looks.end();
    expect(await first).to.equal(1);
    await settle();
    expect(looks.begun()).to.equal(2);
    const later = ask();
    looks.end();
    expect(await Promise.all(during)).to.deep.equal([2, 2, 2]);
    await settle();
    looks.end();
    expect(await later).to.equal(3);
  });

  it('begin again when nobody is looking, and after one that failed', async () => {
    const looks = makeLooks();
    const ask = shareNextLook(looks.look);
    const [failing, next] = [ask(), ask()];
    const refused = failing.then(() => undefined, (error: unknown) => error);
    looks.end(new Error('away'));
    expect(await refused).to.be.instanceOf(Error);
    await settle();
    looks.end();
    expect(await next).to.equal(2);
    await settle();
    const alone = ask();
    looks.end();
    expect(await alone).to.equal(3);
  });
});
