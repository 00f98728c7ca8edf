import { EventEmitter, once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { pino } from 'pino';
import { convertJob } from '../../../services/converter/worker.ts';
import type { ConverterContext } from '../../../services/converter/context.ts';
import type { ConversionContext, ConversionRequest, ConversionResult, Engine, ToolStates } from '../../../services/converter/engines/engine.ts';
import { EngineFailure, EngineKilled } from '../../../services/converter/engines/failure.ts';
import { createSandbox } from '../../../services/converter/sandbox/sandbox.ts';
import { DONE } from '../../../shared/consume/outcome.ts';
import type { WorkerMessage } from '../../../shared/consume/worker.ts';
import { TransientError } from '../../../shared/errors/errors.ts';
import { encode, type AggregateRef } from '../../../shared/events/envelope.ts';
import type { JobEvent } from '../../../shared/events/registry.ts';
import { newId } from '../../../shared/ids/ids.ts';
import { createLogger } from '../../../shared/log/log.ts';
import { openDiskStore } from '../../../shared/objects/disk/disk-store.ts';
import { ObjectDamagedError } from '../../../shared/objects/errors.ts';
import { resultKey, resultPrefix, sourceKey } from '../../../shared/objects/keys.ts';
import type { ObjectStore } from '../../../shared/objects/object-store.ts';
import { jobKeyName } from '../../../shared/privacy/data-keys.ts';
import { MemoryDataKeys } from '../../../shared/privacy/memory-data-keys.ts';
import { openMasterKey } from '../../../shared/privacy/master-key.ts';
import { sealTyped } from '../../../shared/privacy/typed.ts';
import { afterLast, type EventStore } from '../../../shared/store/event-store.ts';
import { createMemoryStore } from '../../../shared/store/memory.ts';
import { eventSubject } from '../../../shared/store/subjects.ts';
import { originOf } from '../../support/events.ts';
import { expectFailure } from '../../support/expect-failure.ts';
import { cancelled, conversionStarted, created, ORGANIZATION_ID } from '../../support/job-events.ts';

const NEVER = new AbortController().signal;
const logger = createLogger('test', 'silent');

/** An engine whose conversions end when the test says so. */
class GatedEngine implements Engine {
  readonly name = 'image';
  readonly started: (() => void)[] = [];
  conversions = 0;
  gate: Promise<void> = Promise.resolve();
  failure: Error | undefined;
  onAbort: (() => void) | undefined;

  probe(): Promise<ToolStates> {
    return Promise.resolve({ sharp: { available: true, version: '1.0.0' } });
  }

  stop(): Promise<void> {
    return Promise.resolve();
  }

  async convert(request: ConversionRequest, { signal }: ConversionContext): Promise<ConversionResult> {
    this.conversions += 1;
    for (const tell of this.started) tell();
    signal.addEventListener('abort', () => this.onAbort?.(), { once: true });
    await this.gate;
    signal.throwIfAborted();
    if (this.failure) throw this.failure;
    const path = join(request.job.path, 'result');
    await writeFile(path, `result ${this.conversions}`);
    return { path, sizeBytes: 8, billableMs: 70_000 };
  }
}

describe('converting a job', () => {
  let folder: string;
  let objects: ObjectStore;
  let store: EventStore;
  let engine: GatedEngine;
  let context: ConverterContext;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'converter-'));
    objects = await openDiskStore({ folder: join(folder, 'objects'), publicUrl: 'http://127.0.0.1', masterKey: openMasterKey(Buffer.alloc(32).toString('base64')) });
    store = createMemoryStore();
    engine = new GatedEngine();
    context = await newContext();
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  /** The context of another process that works on the same log and store. */
  async function newContext(): Promise<ConverterContext> {
    const sandbox = await createSandbox({ mode: 'off', scratchDir: join(folder, 'scratch') });
    const ready = { name: 'image', version: '1.0.0', engine } as const;
    return {
      store, objects, dataKeys: context?.dataKeys ?? new MemoryDataKeys(), sandbox, lane: 'images', engineFor: () => ready, running: new Set(), logger,
      clock: { nowMs: () => Date.now() }, resultTtlMs: 3_600_000, timeLimitMs: 10_000, resultBytesMax: 1_000_000, speedFactor: 1,
    };
  }

  /** A job whose file is there, and the message about it. */
  async function queuedJob(...more: JobEvent[]): Promise<{ job: AggregateRef; message: WorkerMessage }> {
    const job = { kind: 'job', id: newId(Date.now()) } as const;
    const key = await context.dataKeys.create(jobKeyName(job.id));
    const typed = sealTyped(key, ORGANIZATION_ID, job.id, { task_names: { import: 'a', convert: 'b', export: 'c' }, options: {}, ignored_options: [] });
    const source = await objects.write(sourceKey(job.id), Readable.from([Buffer.from('source')]), { maxBytes: 100 });
    await append(job, created({ typed, credits_estimated: 5 }));
    const received = { type: 'job.source_received', data: source } as const;
    const stored = await append(job, received);
    for (const event of more) await append(job, event);
    const bytes = encode(job, stored.version, received, { ...originOf(job), commandId: stored.envelope.id }, stored.envelope.prevhash);
    return { job, message: { subject: eventSubject(job, stored.version, received.type), bytes, position: stored.position, deliveryCount: 1 } };
  }

  async function append(job: AggregateRef, event: JobEvent) {
    return store.append(job, afterLast(await store.load(job)), event, originOf(job));
  }

  async function typesOf(job: AggregateRef): Promise<string[]> {
    return (await store.load(job)).slice(2).map(({ event }) => event.type);
  }

  async function resultsOf(job: AggregateRef): Promise<string[]> {
    const keys: string[] = [];
    for await (const { key } of objects.list(resultPrefix(job.id))) keys.push(key);
    return keys;
  }

  it('claims it, stores the result of the attempt, and says what the charge is made of (D27)', async () => {
    const { job, message } = await queuedJob();
    expect(await convertJob(context, message, NEVER)).to.equal(DONE);
    const last = (await store.load(job)).at(-1)?.event;
    expect(last?.type).to.equal('job.finished');
    expect(last?.data).to.deep.include({ attempt: 1, billable_ms: 70_000, speed_factor: 1, weight: 1, credits_charged: 2 });
    const head = await objects.head(resultKey(job.id, 1));
    expect(last?.data).to.have.nested.property('result.etag', head?.etag);
  });

  it('does nothing when the message comes again after the end', async () => {
    const { job, message } = await queuedJob();
    await convertJob(context, message, NEVER);
    expect(await convertJob(context, message, NEVER)).to.equal(DONE);
    expect(engine.conversions).to.equal(1);
    expect(await typesOf(job)).to.deep.equal(['job.conversion_started', 'job.finished']);
  });

  it('does not fence itself when the message comes again while it converts', async () => {
    const { job, message } = await queuedJob();
    const { open, started } = closeGate();
    const first = convertJob(context, message, NEVER);
    await started;
    expect(await convertJob(context, message, NEVER)).to.deep.include({ kind: 'later' });
    open();
    await first;
    expect(await typesOf(job)).to.deep.equal(['job.conversion_started', 'job.finished']);
  });

  it('of two processes lets only the later attempt end the job, and keeps no result of the other (D37)', async () => {
    const { job, message } = await queuedJob();
    const { open, started } = closeGate();
    const paused = convertJob(context, message, NEVER);
    await started;
    engine.gate = Promise.resolve();
    await convertJob(await newContext(), message, NEVER);
    open();
    await paused;
    expect(await typesOf(job)).to.deep.equal(['job.conversion_started', 'job.conversion_started', 'job.finished']);
    expect(await resultsOf(job)).to.deep.equal([`result/${job.id}/2`]);
  });

  it('leaves a job alone that was cancelled', async () => {
    const { job, message } = await queuedJob(cancelled);
    expect(await convertJob(context, message, NEVER)).to.equal(DONE);
    expect(engine.conversions).to.equal(0);
    expect(await typesOf(job)).to.deep.equal(['job.cancelled']);
  });

  it('ends a job whose worker died three times, and converts it no more', async () => {
    const { job, message } = await queuedJob(conversionStarted(1), conversionStarted(2), conversionStarted(3));
    expect(await convertJob(context, message, NEVER)).to.equal(DONE);
    expect(engine.conversions).to.equal(0);
    expect((await store.load(job)).at(-1)?.event.data).to.deep.equal({ attempt: 3, error: { code: 'internal', reason: 'system_error', cause: 'worker_died' } });
  });

  it('hands a conversion back when the service stops, and says so', async () => {
    const { job, message } = await queuedJob();
    const { open, started } = closeGate();
    const stop = new AbortController();
    const running = convertJob(context, message, stop.signal);
    await started;
    stop.abort();
    // The engine gives up when its own signal comes, after the time that a conversion has to end by itself.
    engine.onAbort = open;
    expect(await running).to.deep.include({ kind: 'later' });
    expect(await typesOf(job)).to.deep.equal(['job.conversion_started', 'job.conversion_interrupted']);
    engine.gate = Promise.resolve();
    await convertJob(context, message, NEVER);
    expect((await store.load(job)).at(-1)?.event.data).to.have.property('attempt', 2);
  });

  it('ends a job whose file cannot be converted, with the cause', async () => {
    const { job, message } = await queuedJob();
    engine.failure = new EngineFailure('timeout', 'took too long');
    expect(await convertJob(context, message, NEVER)).to.equal(DONE);
    expect((await store.load(job)).at(-1)?.event.data).to.deep.equal({ attempt: 1, error: { code: 'internal', reason: 'timeout', cause: 'timeout' } });
    expect(await resultsOf(job)).to.deep.equal([]);
  });

  it('keeps to itself what an engine said about the file, which may quote it', async () => {
    const { message } = await queuedJob();
    const lines: string[] = [];
    context = { ...context, logger: pino({ level: 'trace' }, { write: (line) => void lines.push(line) }) };
    engine.failure = new EngineFailure('damaged', "Entity 'zyxMARKERqla' not defined");
    await convertJob(context, message, NEVER);
    expect(lines.join('')).to.contain('"cause":"damaged"').and.not.contain('zyxMARKERqla');
  });

  it('takes an engine that somebody killed for a death of the attempt, and ends the job at the third (D37, D95)', async () => {
    const { job, message } = await queuedJob();
    engine.failure = new EngineKilled('by SIGKILL');
    for (let death = 0; death < 3; death += 1) expect(await convertJob(context, message, NEVER)).to.deep.include({ kind: 'later' });
    expect(await typesOf(job)).to.deep.equal(['job.conversion_started', 'job.conversion_started', 'job.conversion_started']);
    expect(await convertJob(context, message, NEVER)).to.equal(DONE);
    expect((await store.load(job)).at(-1)?.event.data).to.deep.equal({ attempt: 3, error: { code: 'internal', reason: 'system_error', cause: 'worker_died' } });
  });

  it('lets the next attempt convert what was in an engine that somebody killed', async () => {
    const { job, message } = await queuedJob();
    engine.failure = new EngineKilled('by SIGKILL');
    await convertJob(context, message, NEVER);
    engine.failure = undefined;
    expect(await convertJob(context, message, NEVER)).to.equal(DONE);
    expect((await store.load(job)).at(-1)?.event).to.deep.include({ type: 'job.finished' }).and.have.nested.property('data.attempt', 2);
  });

  it('hands a conversion back whose engine was ended together with the service', async () => {
    const { job, message } = await queuedJob();
    const stop = new AbortController();
    stop.abort();
    engine.failure = new EngineKilled('by SIGTERM');
    expect(await convertJob(context, message, stop.signal)).to.deep.include({ kind: 'later' });
    expect(await typesOf(job)).to.deep.equal(['job.conversion_started', 'job.conversion_interrupted']);
  });

  it('gives a job back while a dependency is away, however often, and uses up no attempt', async () => {
    const { job, message } = await queuedJob();
    for (let round = 0; round < 4; round += 1) {
      engine.failure = new TransientError('storage', 'away');
      await expectFailure(convertJob(context, message, NEVER), TransientError);
    }
    engine.failure = undefined;
    await convertJob(context, message, NEVER);
    expect((await store.load(job)).at(-1)?.event).to.deep.include({ type: 'job.finished' });
  });

  it('ends a job when the service itself is at fault, so that its credits are not held for ever', async () => {
    const { job, message } = await queuedJob();
    engine.failure = new RangeError('a mistake of ours');
    expect(await convertJob(context, message, NEVER)).to.equal(DONE);
    expect((await store.load(job)).at(-1)?.event.data).to.deep.equal({ attempt: 1, error: { code: 'internal', reason: 'system_error' } });
  });

  it('ends a job whose file is gone', async () => {
    const { job, message } = await queuedJob();
    await objects.remove(sourceKey(job.id));
    expect(await convertJob(context, message, NEVER)).to.equal(DONE);
    expect((await store.load(job)).at(-1)?.event.data).to.have.nested.property('error.cause', 'source_missing');
  });

  it('ends a job whose file is damaged', async () => {
    const { job, message } = await queuedJob();
    engine.failure = new ObjectDamagedError('its end does not describe it');
    expect(await convertJob(context, message, NEVER)).to.equal(DONE);
    expect((await store.load(job)).at(-1)?.event.data).to.have.nested.property('error.cause', 'source_damaged');
  });

  /** Makes conversions wait until `open` is called; `started` tells that the first has begun. */
  function closeGate(): { open: () => void; started: Promise<void> } {
    const gate = new EventEmitter();
    engine.gate = once(gate, 'open').then(() => undefined);
    const started = new Promise<void>((resolve) => engine.started.push(resolve));
    return { open: () => void gate.emit('open'), started };
  }
});
