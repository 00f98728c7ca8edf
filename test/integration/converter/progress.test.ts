import { expect } from 'chai';
import type { ConverterContext } from '../../../services/converter/context.ts';
import { REPORT_MS_MIN } from '../../../services/converter/progress.ts';
import { convertJob } from '../../../services/converter/worker.ts';
import { waitFor } from '../../../services/standalone/processes.ts';
import { DONE } from '../../../shared/consume/outcome.ts';
import { TransientError } from '../../../shared/errors/errors.ts';
import type { AggregateRef } from '../../../shared/events/envelope.ts';
import type { EventStore } from '../../../shared/store/event-store.ts';
import { ConverterBench } from '../../support/converter-bench.ts';

const NEVER = new AbortController().signal;
const APPENDED_LIMIT_MS = 10_000;

describe('the progress of a conversion', () => {
  let bench: ConverterBench;
  let nowMs: number;

  beforeEach(async () => {
    bench = await ConverterBench.open();
    nowMs = Date.now();
  });
  afterEach(() => bench.close());

  /** A process whose clock the test moves. */
  function context(store: EventStore = bench.store): ConverterContext {
    return { ...bench.anotherProcess(), store, clock: { nowMs: () => nowMs } };
  }

  async function percentsOf(job: AggregateRef): Promise<number[]> {
    return (await bench.store.load(job)).flatMap(({ event }) => (event.type === 'job.conversion_progressed' ? [event.data.percent] : []));
  }

  /** Has the engine speak, some time after it last did, and waits until the log has it. */
  async function tell(job: AggregateRef, percent: number): Promise<void> {
    nowMs += REPORT_MS_MIN;
    bench.engine.onProgress?.(percent);
    await waitFor(`${percent} % in the log`, APPENDED_LIMIT_MS, async () => ((await percentsOf(job)).includes(percent) ? true : undefined));
    // The answer to the append has to come back, too, before the next word is let through.
    await new Promise((resolve) => setImmediate(resolve));
  }

  it('of a long one stands in its log, between the claim and the end', async () => {
    const { job, message } = await bench.queuedJob();
    const { open, started } = bench.closeGate();
    const running = convertJob(context(), message, NEVER);
    await started;
    await tell(job, 20);
    await tell(job, 55);
    open();
    expect(await running).to.equal(DONE);
    expect(await bench.typesOf(job)).to.deep.equal(['job.conversion_started', 'job.conversion_progressed', 'job.conversion_progressed', 'job.finished']);
    expect(await percentsOf(job)).to.deep.equal([20, 55]);
  });

  it('is not said any more by an attempt that was taken for dead (D37)', async () => {
    const { job, message } = await bench.queuedJob();
    const { open, started } = bench.closeGate();
    const paused = convertJob(context(), message, NEVER);
    await started;
    const speak = bench.engine.onProgress;
    bench.engine.gate = Promise.resolve();
    await convertJob(context(), message, NEVER);
    nowMs += REPORT_MS_MIN;
    speak?.(50);
    open();
    await paused;
    expect(await percentsOf(job)).to.deep.equal([]);
    expect(await bench.typesOf(job)).to.deep.equal(['job.conversion_started', 'job.conversion_started', 'job.finished']);
  });

  it('costs the conversion nothing while the log does not take it', async () => {
    const { job, message } = await bench.queuedJob();
    const { open, started } = bench.closeGate();
    let refused = 0;
    const store: EventStore = {
      load: (aggregate) => bench.store.load(aggregate),
      append: (aggregate, after, event, origin) => {
        if (event.type !== 'job.conversion_progressed') return bench.store.append(aggregate, after, event, origin);
        refused += 1;
        return Promise.reject(new TransientError('nats', 'away'));
      },
    };
    const running = convertJob(context(store), message, NEVER);
    await started;
    nowMs += REPORT_MS_MIN;
    bench.engine.onProgress?.(50);
    await waitFor('a refused report', APPENDED_LIMIT_MS, () => refused > 0 || undefined);
    open();
    expect(await running).to.equal(DONE);
    expect(await bench.typesOf(job)).to.deep.equal(['job.conversion_started', 'job.finished']);
  });
});
