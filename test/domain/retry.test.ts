import { expect } from 'chai';
import sinon from 'sinon';
import { retryTransient } from '../../shared/consume/retry.ts';
import { Defect, TransientError } from '../../shared/errors/errors.ts';
import { expectFailure } from '../support/expect-failure.ts';

const AWAY = new TransientError('storage', 'away');
const NEVER = new AbortController().signal;

describe('trying again while a dependency is away', () => {
  let clock: sinon.SinonFakeTimers;
  beforeEach(() => {
    clock = sinon.useFakeTimers();
  });
  afterEach(() => clock.restore());

  it('answers as soon as it is back', async () => {
    const work = sinon.stub().onCall(0).rejects(AWAY).onCall(1).rejects(AWAY).resolves('done');
    const answer = retryTransient(work, NEVER);
    await clock.runAllAsync();
    expect(await answer).to.equal('done');
    expect(work.callCount).to.equal(3);
  });

  it('throws anything else at once', async () => {
    const work = sinon.stub().rejects(new Defect('broken'));
    await expectFailure(retryTransient(work, NEVER), Defect);
    expect(work.callCount).to.equal(1);
  });

  it('gives up after a bounded number of tries, minutes later', async () => {
    const work = sinon.stub().rejects(AWAY);
    const failure = expectFailure(retryTransient(work, NEVER), TransientError);
    await clock.runAllAsync();
    await failure;
    expect(work.callCount).to.equal(30);
    expect(clock.now).to.be.within(60_000, 150_000);
  });

  it('waits no longer when the service stops', async () => {
    const stop = new AbortController();
    const work = sinon.stub().rejects(AWAY);
    const failure = expectFailure(retryTransient(work, stop.signal), TransientError);
    await clock.tickAsync(1);
    stop.abort();
    await failure;
    expect(work.callCount).to.be.within(1, 2);
  });
});
