import { expect } from 'chai';
import { EventEmitter, once } from 'node:events';
import { chooseRestartPause, keepRunning } from '../../../services/standalone/keep-running.ts';
import type { RunEnd, ServerRun } from '../../../services/standalone/server-run.ts';

/** A run that ends when it is told to. */
function makeRun(): ServerRun & { end(code: number): void } {
  const ends = new EventEmitter<{ end: [RunEnd] }>();
  const exited = new Promise<RunEnd>((resolve) => void ends.once('end', resolve));
  const end = (code: number): void => void ends.emit('end', { code, description: `exit code ${code}` });
  return { pid: 1, exited, end, stop: async () => end(0), kill: async () => end(137) };
}

describe('keeping a process running', () => {
  it('waits longer after every end, up to a bound, and varies by chance', () => {
    expect([1, 2, 3, 20].map((failures) => chooseRestartPause(failures, 0))).to.deep.equal([200, 400, 800, 10_000]);
    expect(chooseRestartPause(1, 0.99)).to.be.within(100, 110);
  });

  it('tries again when a restart fails', async () => {
    const first = makeRun();
    const third = makeRun();
    const launches: (() => Promise<ReturnType<typeof makeRun>>)[] = [async () => first, () => Promise.reject(new Error('not yet')), async () => third];
    const lines: string[] = [];
    const events = new EventEmitter();
    const again = once(events, 'all launched');
    const launch = async (): Promise<ReturnType<typeof makeRun>> => {
      const next = launches.shift();
      if (next === undefined) throw new Error('too many launches');
      if (launches.length === 0) events.emit('all launched');
      return next();
    };
    const kept = await keepRunning({ name: 'thing', launch, say: (line) => lines.push(line) });
    first.end(1);
    await again;
    await kept.stop();
    expect(lines).to.include('thing ended (exit code 1)').and.to.include('thing: not yet');
  });

  it('does not start again what was stopped', async () => {
    let launches = 0;
    const kept = await keepRunning({ name: 'thing', launch: async () => ((launches += 1), makeRun()), say: () => undefined });
    await kept.stop();
    expect(launches).to.equal(1);
  });

  it('leaves down what has ended for a reason that a restart does not mend', async () => {
    const run = makeRun();
    const hopeless = new Promise<RunEnd>((resolve) => {
      void keepRunning({ name: 'thing', launch: async () => run, say: () => undefined, isHopeless: (end) => end.code === 78, onHopeless: resolve });
    });
    run.end(78);
    expect((await hopeless).code).to.equal(78);
  });
});
