import { once } from 'node:events';
import { expect } from 'chai';
import type { Instance } from '../../../services/converter/engines/office/instance.ts';
import { InstanceKeeper } from '../../../services/converter/engines/office/keeper.ts';
import type { Isolation } from '../../../services/converter/engines/office/kept.ts';
import type { Exit } from '../../../services/converter/sandbox/process.ts';
import { TransientError } from '../../../shared/errors/errors.ts';
import { expectFailure } from '../../support/expect-failure.ts';

const MIB = 1024 ** 2;
const never = new AbortController().signal;
const ENDED: Exit = { cause: 'aborted', code: null, signal: 'SIGKILL', stderrTail: '' };

/** Instances without a process: what is looked at here is who gets which of them. */
function keeperOf(isolation: Isolation, slots = 1): { readonly keeper: InstanceKeeper; readonly alive: Set<Instance> } {
  const alive = new Set<Instance>();
  const start = (): Promise<Instance> => {
    const killer = new AbortController();
    const gone = once(killer.signal, 'abort').then(() => ENDED);
    const kill = (): Promise<Exit> => {
      alive.delete(instance);
      killer.abort();
      return gone;
    };
    const instance: Instance = { folder: { path: '', uid: undefined }, gone, version: '', missingFilters: [], ask: () => Promise.resolve(undefined), kill, remove: async () => void (await kill()) };
    alive.add(instance);
    return Promise.resolve(instance);
  };
  return { keeper: new InstanceKeeper({ slots, isolation, start }), alive };
}

async function serve(keeper: InstanceKeeper, organizationId: string, memoryBytes: number | undefined = MIB): Promise<Instance> {
  const lease = await keeper.acquire(organizationId, never);
  lease.release(memoryBytes);
  return lease.instance;
}

describe('the keeper of office suites', () => {
  it('gives every job an instance that has seen nothing (strict)', async () => {
    const { keeper } = keeperOf('strict');
    const seen = new Set<Instance>();
    for (let jobs = 0; jobs < 20; jobs += 1) seen.add(await serve(keeper, 'a'));
    expect(seen.size).to.equal(20);
    await keeper.stop();
  });

  it('keeps organizations apart, however their jobs mix (shared)', async () => {
    const { keeper } = keeperOf('shared', 2);
    const owners = new Map<Instance, string>();
    for (let jobs = 0; jobs < 60; jobs += 1) {
      const organizationId = 'abcde'[(jobs * 7) % 5] ?? 'a';
      const instance = await serve(keeper, organizationId);
      expect(owners.get(instance) ?? organizationId).to.equal(organizationId);
      owners.set(instance, organizationId);
    }
    await keeper.stop();
  });

  it('replaces an instance after a hundred jobs, and one that holds more than 600 MiB or had trouble (shared)', async () => {
    const { keeper } = keeperOf('shared');
    const first = await serve(keeper, 'a');
    for (let jobs = 1; jobs < 100; jobs += 1) expect(await serve(keeper, 'a')).to.equal(first);
    const second = await serve(keeper, 'a', 601 * MIB);
    expect(second).not.to.equal(first);
    const third = await keeper.acquire('a', never);
    expect(third.instance).not.to.equal(second);
    third.release(undefined);
    expect(await serve(keeper, 'a')).not.to.equal(third.instance);
    await keeper.stop();
  });

  it('has no more at work than it has slots, and one more ready', async () => {
    const { keeper, alive } = keeperOf('strict', 2);
    const busy = [await keeper.acquire('a', never), await keeper.acquire('b', never)];
    const third = keeper.acquire('c', never);
    const first = await Promise.race([third.then(() => 'served'), new Promise((resolve) => setImmediate(resolve, 'waits'))]);
    expect([first, alive.size]).to.deep.equal(['waits', 3]);
    for (const lease of busy) lease.release(undefined);
    (await third).release(undefined);
    await keeper.stop();
    expect(alive.size).to.equal(0);
  });

  it('tells whoever waits when no instance comes up, and stops cleanly', async () => {
    const keeper = new InstanceKeeper({ slots: 1, isolation: 'strict', start: () => Promise.resolve(undefined) });
    await expectFailure(keeper.acquire('a', never), TransientError);
    await keeper.stop();
    await expectFailure(keeper.acquire('a', never), TransientError);
  });
});
