import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { ConflictError, TransientError } from '../../shared/errors/errors.ts';
import type { StoredEvent } from '../../shared/events/envelope.ts';
import { AppendWatch } from '../../shared/store/append-watch.ts';
import type { EventStore } from '../../shared/store/event-store.ts';
import { created } from '../support/job-events.ts';

/** What becomes of an event when the server cannot write to its disk: it says nothing. */
const REFUSED = new TransientError('nats', 'NATS does not answer');

describe('The watch over appended events', () => {
  let nowMs: number;
  let isThere: boolean;
  let failure: Error | undefined;
  let watch: AppendWatch;
  let append: (kind?: 'job' | 'credits') => Promise<unknown>;
  beforeEach(() => {
    nowMs = 1000;
    isThere = true;
    failure = undefined;
    watch = new AppendWatch(() => Promise.resolve(isThere), () => nowMs);
    const stored = { version: 1 } as StoredEvent;
    const store: EventStore = { load: () => Promise.resolve([]), append: () => (failure ? Promise.reject(failure) : Promise.resolve(stored)) };
    const watched = watch.watched(store);
    append = async (kind = 'job') => {
      const outcome = await watched.append({ kind, id: 'a' }, { version: 0 }, created(), { commandId: 'c' } as Parameters<EventStore['append']>[3]).catch((error: unknown) => error);
      // The watch asks the server on its own.
      await setImmediate();
      return outcome;
    };
  });

  it('says that the log takes none after it refused one, until it takes one', async () => {
    expect(watch.isTaking()).to.equal(true);
    failure = REFUSED;
    expect(await append()).to.equal(REFUSED);
    expect(watch.isTaking()).to.equal(false);
    failure = undefined;
    await append('credits');
    expect(watch.isTaking(), 'another stream').to.equal(false);
    await append();
    expect(watch.isTaking()).to.equal(true);
  });

  it('forgets a refusal after half a minute, or nobody would ever ask again', async () => {
    failure = REFUSED;
    await append();
    nowMs += 29_999;
    expect(watch.isTaking()).to.equal(false);
    nowMs += 1;
    expect(watch.isTaking()).to.equal(true);
  });

  it('leaves a server that is away to the connection, and a conflict to who made it', async () => {
    for (failure of [new TransientError('storage', 'full'), new ConflictError('taken')]) {
      await append();
      expect(watch.isTaking()).to.equal(true);
    }
    failure = REFUSED;
    isThere = false;
    await append();
    expect(watch.isTaking()).to.equal(true);
  });
});
