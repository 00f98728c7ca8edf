import { once, EventEmitter } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { ConverterContext } from '../../services/converter/context.ts';
import type { ConversionContext, ConversionRequest, ConversionResult, Engine, ToolStates } from '../../services/converter/engines/engine.ts';
import { createSandbox } from '../../services/converter/sandbox/sandbox.ts';
import type { WorkerMessage } from '../../shared/consume/worker.ts';
import { encode, type AggregateRef, type StoredEvent } from '../../shared/events/envelope.ts';
import type { EventData, JobEvent } from '../../shared/events/registry.ts';
import { newId } from '../../shared/ids/ids.ts';
import { createLogger } from '../../shared/log/log.ts';
import { openDiskStore } from '../../shared/objects/disk/disk-store.ts';
import { resultPrefix, sourceKey } from '../../shared/objects/keys.ts';
import type { ObjectStore } from '../../shared/objects/object-store.ts';
import { jobKeyName } from '../../shared/privacy/data-keys.ts';
import { MemoryDataKeys } from '../../shared/privacy/memory-data-keys.ts';
import { openMasterKey } from '../../shared/privacy/master-key.ts';
import { sealTyped } from '../../shared/privacy/typed.ts';
import { afterLast, type EventStore } from '../../shared/store/event-store.ts';
import { createMemoryStore } from '../../shared/store/memory.ts';
import { eventSubject } from '../../shared/store/subjects.ts';
import { originOf } from './events.ts';
import { created, ORGANIZATION_ID } from './job-events.ts';

/** An engine whose conversions end when the test says so. */
export class GatedEngine implements Engine {
  readonly name = 'image';
  readonly started: (() => void)[] = [];
  conversions = 0;
  gate: Promise<void> = Promise.resolve();
  /** What it says of its progress while it converts. */
  onProgress: ((percent: number) => void) | undefined;
  failure: Error | undefined;
  onAbort: (() => void) | undefined;

  /** Makes conversions wait until `open` is called; `started` tells that the first has begun. */
  closeGate(): { readonly open: () => void; readonly started: Promise<void> } {
    const gate = new EventEmitter();
    this.gate = once(gate, 'open').then(() => undefined);
    const started = new Promise<void>((resolve) => this.started.push(resolve));
    return { open: () => void gate.emit('open'), started };
  }

  probe(): Promise<ToolStates> {
    return Promise.resolve({ sharp: { available: true, version: '1.0.0' } });
  }

  stop(): Promise<void> {
    return Promise.resolve();
  }

  async convert(request: ConversionRequest, { signal, onProgress }: ConversionContext): Promise<ConversionResult> {
    this.conversions += 1;
    this.onProgress = onProgress;
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

/** A job whose file is there, and the message about it. */
export type QueuedJob = { readonly job: AggregateRef; readonly message: WorkerMessage };

/** What converters work with in a test: files and keys of their own, and a log that is in memory unless one is given. */
export class ConverterBench {
  readonly engine = new GatedEngine();
  readonly store: EventStore;
  readonly objects: ObjectStore;
  readonly context: ConverterContext;
  readonly #folder: string;

  private constructor(folder: string, store: EventStore, objects: ObjectStore, context: ConverterContext) {
    this.#folder = folder;
    this.store = store;
    this.objects = objects;
    this.context = { ...context, engineFor: () => this.ready() };
  }

  static async open(store: EventStore = createMemoryStore()): Promise<ConverterBench> {
    const folder = await mkdtemp(join(tmpdir(), 'converter-'));
    const objects = await openDiskStore({ folder: join(folder, 'objects'), publicUrl: 'http://127.0.0.1', masterKey: openMasterKey(Buffer.alloc(32).toString('base64')) });
    const sandbox = await createSandbox({ mode: 'off', scratchDir: join(folder, 'scratch') });
    const context: ConverterContext = {
      store, objects, dataKeys: new MemoryDataKeys(), sandbox, lane: 'images', engineFor: () => undefined, running: new Set(), logger: createLogger('test', 'silent'),
      clock: { nowMs: () => Date.now() }, resultTtlMs: 3_600_000, timeLimitMs: 10_000, resultBytesMax: 1_000_000, speedFactor: 1,
    };
    return new ConverterBench(folder, store, objects, context);
  }

  /** The engine of the bench, as one whose tools work. */
  ready(): { readonly name: 'image'; readonly version: string; readonly engine: Engine } {
    return { name: 'image', version: '1.0.0', engine: this.engine };
  }

  /** The context of another process that works on the same log and files. */
  anotherProcess(): ConverterContext {
    return { ...this.context, running: new Set() };
  }

  async close(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** A job whose file is there, with whatever else has happened to it. */
  async queuedJob(...more: JobEvent[]): Promise<QueuedJob> {
    return this.queuedAs({}, ...more);
  }

  /** The same for a job that was created in a certain way. */
  async queuedAs(data: Partial<EventData<'job.created'>>, ...more: JobEvent[]): Promise<QueuedJob> {
    const job = { kind: 'job', id: newId(Date.now()) } as const;
    const key = await this.context.dataKeys.create(jobKeyName(job.id));
    const typed = sealTyped(key, ORGANIZATION_ID, job.id, { task_names: { import: 'a', convert: 'b', export: 'c' }, options: {}, ignored_options: [] });
    const source = await this.objects.write(sourceKey(job.id), Readable.from([Buffer.from('source')]), { maxBytes: 100 });
    await this.append(job, created({ typed, credits_estimated: 5, ...data }));
    const received = { type: 'job.source_received', data: source } as const;
    const stored = await this.append(job, received);
    for (const event of more) await this.append(job, event);
    const bytes = encode(job, stored.version, received, { ...originOf(job), commandId: stored.envelope.id }, stored.envelope.prevhash);
    return { job, message: { subject: eventSubject(job, stored.version, received.type), bytes, position: stored.position, deliveryCount: 1 } };
  }

  async append(job: AggregateRef, event: JobEvent): Promise<StoredEvent> {
    return this.store.append(job, afterLast(await this.store.load(job)), event, originOf(job));
  }

  /** Types of the events of a job after those that queued it. */
  async typesOf(job: AggregateRef): Promise<string[]> {
    return (await this.store.load(job)).slice(2).map(({ event }) => event.type);
  }

  async resultsOf(job: AggregateRef): Promise<string[]> {
    const keys: string[] = [];
    for await (const { key } of this.objects.list(resultPrefix(job.id))) keys.push(key);
    return keys;
  }

  /** Makes conversions wait until `open` is called; `started` tells that the first has begun. */
  closeGate(): ReturnType<GatedEngine['closeGate']> {
    return this.engine.closeGate();
  }
}
