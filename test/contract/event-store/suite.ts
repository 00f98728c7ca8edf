import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { balanceOf, creditsDecider } from '../../../shared/domain/credits.ts';
import { ConflictError, DomainError } from '../../../shared/errors/errors.ts';
import { afterLast, type EventStore } from '../../../shared/store/event-store.ts';
import { handle, loadState } from '../../../shared/store/handle.ts';
import { appendGrants, granted, newCredits, originOf } from '../../support/events.ts';
import { expectFailure } from '../../support/expect-failure.ts';

/** Writers that race for one version. */
const RACERS = 20;
/** Commands that race for one aggregate, each deciding anew when it loses. */
const COMMANDS = 4;

/** What every event store does, whatever it is made of. `open` answers a store that is shared by all tests. */
export function describeEventStore(open: () => EventStore): void {
  it('has no events of an aggregate that nobody wrote', async () => {
    expect(await open().load(newCredits())).to.deep.equal([]);
  });

  it('appends the first event of an aggregate and loads it back', async () => {
    const [store, aggregate] = [open(), newCredits()];
    const stored = await store.append(aggregate, { version: 0 }, granted(7), originOf(aggregate));
    expect(stored).to.include({ version: 1 });
    expect(stored.event).to.deep.equal(granted(7));
    expect(stored.envelope.prevhash).to.equal(undefined);
    expect(await store.load(aggregate)).to.deep.equal([stored]);
  });

  it('appends one event after another, each naming the hash of the one before it', async () => {
    const [store, aggregate] = [open(), newCredits()];
    const appended = await appendGrants(store, aggregate, 5);
    const loaded = await store.load(aggregate);
    expect(loaded).to.deep.equal(appended);
    expect(loaded.map((stored) => stored.version)).to.deep.equal([1, 2, 3, 4, 5]);
    expect(loaded.map((stored) => stored.envelope.prevhash)).to.deep.equal([undefined, ...loaded.slice(0, -1).map((stored) => stored.hash)]);
    expect(loaded.map((stored) => stored.position)).to.deep.equal(loaded.map((stored) => stored.position).toSorted((a, b) => a - b));
  });

  it('keeps the events of aggregates apart', async () => {
    const [store, one, other] = [open(), newCredits(), newCredits()];
    await appendGrants(store, one, 3);
    await appendGrants(store, other, 1);
    expect(await store.load(one)).to.have.length(3);
    expect(await store.load(other)).to.have.length(1);
  });

  it('loads a long aggregate whole and in order', async () => {
    const [store, aggregate] = [open(), newCredits()];
    const appended = await appendGrants(store, aggregate, 1100);
    expect(await store.load(aggregate)).to.deep.equal(appended);
  }).timeout(60_000);

  it('refuses a version that somebody else wrote, and stores nothing', async () => {
    const [store, aggregate] = [open(), newCredits()];
    const [first] = await appendGrants(store, aggregate, 2);
    await expectFailure(store.append(aggregate, { version: 0 }, granted(9), originOf(aggregate)), ConflictError);
    await expectFailure(store.append(aggregate, afterLast(first ? [first] : []), granted(9), originOf(aggregate)), ConflictError);
    expect(await store.load(aggregate)).to.have.length(2);
  });

  it('lets exactly one of many racers write a version', async () => {
    const [store, aggregate] = [open(), newCredits()];
    const outcomes = await Promise.allSettled(
      Array.from({ length: RACERS }, (_, index) => store.append(aggregate, { version: 0 }, granted(index + 1), originOf(aggregate))),
    );
    const won = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    const lost = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    expect(won).to.have.length(1);
    for (const reason of lost) expect(reason).to.be.instanceOf(ConflictError);
    expect(await store.load(aggregate)).to.deep.equal(won);
  });

  it('answers the stored event to a command that is sent again after its acknowledgement was lost', async () => {
    const [store, aggregate, commandId] = [open(), newCredits(), randomUUID()];
    const stored = await store.append(aggregate, { version: 0 }, granted(7), originOf(aggregate, commandId));
    const later = { ...originOf(aggregate, commandId), nowMs: Date.now() + 1000 };
    expect(await store.append(aggregate, { version: 0 }, granted(7), later)).to.deep.equal(stored);
    expect(await store.load(aggregate)).to.deep.equal([stored]);
  });

  it('answers the stored event to a command that is sent again after others appended', async () => {
    const [store, aggregate, commandId] = [open(), newCredits(), randomUUID()];
    const stored = await store.append(aggregate, { version: 0 }, granted(7), originOf(aggregate, commandId));
    await appendGrants(store, aggregate, 2);
    expect(await store.append(aggregate, { version: 0 }, granted(7), originOf(aggregate, commandId))).to.deep.equal(stored);
    expect(await store.load(aggregate)).to.have.length(3);
  });

  it('stores once what the same command sends twice at the same time', async () => {
    const [store, aggregate, commandId] = [open(), newCredits(), randomUUID()];
    const send = () => store.append(aggregate, { version: 0 }, granted(7), originOf(aggregate, commandId));
    const [one, two] = await Promise.all([send(), send()]);
    expect(one).to.deep.equal(two);
    expect(await store.load(aggregate)).to.deep.equal([one]);
  });

  it('folds commands one after another', async () => {
    const [store, aggregate] = [open(), newCredits()];
    const jobId = randomUUID();
    await handle(store, creditsDecider, aggregate, { type: 'grant', data: { amount: 10 } }, originOf(aggregate));
    const held = await handle(store, creditsDecider, aggregate, { type: 'hold', job_id: jobId, amount: 4 }, originOf(aggregate));
    expect(held.appended?.version).to.equal(2);
    const again = await handle(store, creditsDecider, aggregate, { type: 'hold', job_id: jobId, amount: 4 }, originOf(aggregate));
    expect(again.appended).to.equal(undefined);
    await expectFailure(handle(store, creditsDecider, aggregate, { type: 'hold', job_id: randomUUID(), amount: 7 }, originOf(aggregate)), DomainError);
    const { state } = await loadState(store, creditsDecider, aggregate);
    expect(balanceOf(state)).to.equal(6);
  });

  it('handles a command once however often it is sent', async () => {
    const [store, aggregate, origin] = [open(), newCredits(), originOf(newCredits())];
    const command = { type: 'grant', data: { amount: 10 } } as const;
    const first = await handle(store, creditsDecider, aggregate, command, origin);
    await appendGrants(store, aggregate, 1);
    const second = await handle(store, creditsDecider, aggregate, command, origin);
    expect(second.appended).to.deep.equal(first.appended);
    expect(await store.load(aggregate)).to.have.length(2);
  });

  it('decides anew when somebody else was first, so that no command is lost', async () => {
    const [store, aggregate] = [open(), newCredits()];
    await Promise.all(Array.from({ length: COMMANDS }, () => handle(store, creditsDecider, aggregate, { type: 'grant', data: { amount: 1 } }, originOf(aggregate))));
    const { state } = await loadState(store, creditsDecider, aggregate);
    expect(balanceOf(state)).to.equal(COMMANDS);
  });
}
