import { expect } from 'chai';
import { pino } from 'pino';
import { convertJob } from '../../../services/converter/worker.ts';
import { EngineFailure, EngineKilled } from '../../../services/converter/engines/failure.ts';
import { DONE } from '../../../shared/consume/outcome.ts';
import { TransientError } from '../../../shared/errors/errors.ts';
import { ObjectDamagedError } from '../../../shared/objects/errors.ts';
import { resultKey, sourceKey } from '../../../shared/objects/keys.ts';
import { ConverterBench } from '../../support/converter-bench.ts';
import { expectFailure } from '../../support/expect-failure.ts';
import { cancelled, conversionStarted } from '../../support/job-events.ts';

const NEVER = new AbortController().signal;

describe('converting a job', () => {
  let bench: ConverterBench;

  beforeEach(async () => {
    bench = await ConverterBench.open();
  });
  afterEach(() => bench.close());

  it('claims it, stores the result of the attempt, and says what the charge is made of (D27)', async () => {
    const { job, message } = await bench.queuedJob();
    expect(await convertJob(bench.context, message, NEVER)).to.equal(DONE);
    const last = (await bench.store.load(job)).at(-1)?.event;
    expect(last?.type).to.equal('job.finished');
    expect(last?.data).to.deep.include({ attempt: 1, billable_ms: 70_000, speed_factor: 1, weight: 1, credits_charged: 2 });
    const head = await bench.objects.head(resultKey(job.id, 1));
    expect(last?.data).to.have.nested.property('result.etag', head?.etag);
  });

  it('does nothing when the message comes again after the end', async () => {
    const { job, message } = await bench.queuedJob();
    await convertJob(bench.context, message, NEVER);
    expect(await convertJob(bench.context, message, NEVER)).to.equal(DONE);
    expect(bench.engine.conversions).to.equal(1);
    expect(await bench.typesOf(job)).to.deep.equal(['job.conversion_started', 'job.finished']);
  });

  it('does not fence itself when the message comes again while it converts', async () => {
    const { job, message } = await bench.queuedJob();
    const { open, started } = bench.closeGate();
    const first = convertJob(bench.context, message, NEVER);
    await started;
    expect(await convertJob(bench.context, message, NEVER)).to.deep.include({ kind: 'later' });
    open();
    await first;
    expect(await bench.typesOf(job)).to.deep.equal(['job.conversion_started', 'job.finished']);
  });

  it('of two processes lets only the later attempt end the job, and keeps no result of the other (D37)', async () => {
    const { job, message } = await bench.queuedJob();
    const { open, started } = bench.closeGate();
    const paused = convertJob(bench.context, message, NEVER);
    await started;
    bench.engine.gate = Promise.resolve();
    await convertJob(bench.anotherProcess(), message, NEVER);
    open();
    await paused;
    expect(await bench.typesOf(job)).to.deep.equal(['job.conversion_started', 'job.conversion_started', 'job.finished']);
    expect(await bench.resultsOf(job)).to.deep.equal([`result/${job.id}/2`]);
  });

  it('leaves a job alone that was cancelled', async () => {
    const { job, message } = await bench.queuedJob(cancelled);
    expect(await convertJob(bench.context, message, NEVER)).to.equal(DONE);
    expect(bench.engine.conversions).to.equal(0);
    expect(await bench.typesOf(job)).to.deep.equal(['job.cancelled']);
  });

  it('ends a job whose worker died three times, and converts it no more', async () => {
    const { job, message } = await bench.queuedJob(conversionStarted(1), conversionStarted(2), conversionStarted(3));
    expect(await convertJob(bench.context, message, NEVER)).to.equal(DONE);
    expect(bench.engine.conversions).to.equal(0);
    expect((await bench.store.load(job)).at(-1)?.event.data).to.deep.equal({ attempt: 3, error: { code: 'internal', reason: 'system_error', cause: 'worker_died' } });
  });

  it('hands a conversion back when the service stops, and says so', async () => {
    const { job, message } = await bench.queuedJob();
    const { open, started } = bench.closeGate();
    const stop = new AbortController();
    const running = convertJob(bench.context, message, stop.signal);
    await started;
    stop.abort();
    // The engine gives up when its own signal comes, after the time that a conversion has to end by itself.
    bench.engine.onAbort = open;
    expect(await running).to.deep.include({ kind: 'later' });
    expect(await bench.typesOf(job)).to.deep.equal(['job.conversion_started', 'job.conversion_interrupted']);
    bench.engine.gate = Promise.resolve();
    await convertJob(bench.context, message, NEVER);
    expect((await bench.store.load(job)).at(-1)?.event.data).to.have.property('attempt', 2);
  });

  it('ends a job whose file cannot be converted, with the cause', async () => {
    const { job, message } = await bench.queuedJob();
    bench.engine.failure = new EngineFailure('timeout', 'took too long');
    expect(await convertJob(bench.context, message, NEVER)).to.equal(DONE);
    expect((await bench.store.load(job)).at(-1)?.event.data).to.deep.equal({ attempt: 1, error: { code: 'internal', reason: 'timeout', cause: 'timeout' } });
    expect(await bench.resultsOf(job)).to.deep.equal([]);
  });

  it('keeps to itself what an engine said about the file, which may quote it', async () => {
    const { message } = await bench.queuedJob();
    const lines: string[] = [];
    const context = { ...bench.context, logger: pino({ level: 'trace' }, { write: (line) => void lines.push(line) }) };
    bench.engine.failure = new EngineFailure('damaged', "Entity 'zyxMARKERqla' not defined");
    await convertJob(context, message, NEVER);
    expect(lines.join('')).to.contain('"cause":"damaged"').and.not.contain('zyxMARKERqla');
  });

  it('takes an engine that somebody killed for a death of the attempt, and ends the job at the third (D37, D95)', async () => {
    const { job, message } = await bench.queuedJob();
    bench.engine.failure = new EngineKilled('by SIGKILL');
    for (let death = 0; death < 3; death += 1) expect(await convertJob(bench.context, message, NEVER)).to.deep.include({ kind: 'later' });
    expect(await bench.typesOf(job)).to.deep.equal(['job.conversion_started', 'job.conversion_started', 'job.conversion_started']);
    expect(await convertJob(bench.context, message, NEVER)).to.equal(DONE);
    expect((await bench.store.load(job)).at(-1)?.event.data).to.deep.equal({ attempt: 3, error: { code: 'internal', reason: 'system_error', cause: 'worker_died' } });
  });

  it('lets the next attempt convert what was in an engine that somebody killed', async () => {
    const { job, message } = await bench.queuedJob();
    bench.engine.failure = new EngineKilled('by SIGKILL');
    await convertJob(bench.context, message, NEVER);
    bench.engine.failure = undefined;
    expect(await convertJob(bench.context, message, NEVER)).to.equal(DONE);
    expect((await bench.store.load(job)).at(-1)?.event).to.deep.include({ type: 'job.finished' }).and.have.nested.property('data.attempt', 2);
  });

  it('hands a conversion back whose engine was ended together with the service', async () => {
    const { job, message } = await bench.queuedJob();
    const stop = new AbortController();
    stop.abort();
    bench.engine.failure = new EngineKilled('by SIGTERM');
    expect(await convertJob(bench.context, message, stop.signal)).to.deep.include({ kind: 'later' });
    expect(await bench.typesOf(job)).to.deep.equal(['job.conversion_started', 'job.conversion_interrupted']);
  });

  it('gives a job back while a dependency is away, however often, and uses up no attempt', async () => {
    const { job, message } = await bench.queuedJob();
    for (let round = 0; round < 4; round += 1) {
      bench.engine.failure = new TransientError('storage', 'away');
      await expectFailure(convertJob(bench.context, message, NEVER), TransientError);
    }
    bench.engine.failure = undefined;
    await convertJob(bench.context, message, NEVER);
    expect((await bench.store.load(job)).at(-1)?.event).to.deep.include({ type: 'job.finished' });
  });

  it('ends a job when the service itself is at fault, so that its credits are not held for ever', async () => {
    const { job, message } = await bench.queuedJob();
    bench.engine.failure = new RangeError('a mistake of ours');
    expect(await convertJob(bench.context, message, NEVER)).to.equal(DONE);
    expect((await bench.store.load(job)).at(-1)?.event.data).to.deep.equal({ attempt: 1, error: { code: 'internal', reason: 'system_error' } });
  });

  it('ends a job whose file is gone', async () => {
    const { job, message } = await bench.queuedJob();
    await bench.objects.remove(sourceKey(job.id));
    expect(await convertJob(bench.context, message, NEVER)).to.equal(DONE);
    expect((await bench.store.load(job)).at(-1)?.event.data).to.have.nested.property('error.cause', 'source_missing');
  });

  it('ends a job whose file is damaged', async () => {
    const { job, message } = await bench.queuedJob();
    bench.engine.failure = new ObjectDamagedError('its end does not describe it');
    expect(await convertJob(bench.context, message, NEVER)).to.equal(DONE);
    expect((await bench.store.load(job)).at(-1)?.event.data).to.have.nested.property('error.cause', 'source_damaged');
  });
});
