import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { SimulationContext } from '../../../services/converter/simulated/context.ts';
import { resultFile } from '../../../services/converter/simulated/result-file.ts';
import { startSimulation } from '../../../services/converter/simulated/simulation.ts';
import { simulateConversion } from '../../../services/converter/simulated/worker.ts';
import { convertJob } from '../../../services/converter/worker.ts';
import { createSandbox } from '../../../services/converter/sandbox/sandbox.ts';
import { DONE } from '../../../shared/consume/outcome.ts';
import type { WorkerMessage } from '../../../shared/consume/worker.ts';
import type { JobStatus } from '../../../shared/domain/job-state.ts';
import { encode } from '../../../shared/events/envelope.ts';
import type { EventData } from '../../../shared/events/registry.ts';
import { newId } from '../../../shared/ids/ids.ts';
import { Cleanup } from '../../../shared/lifecycle/run-service.ts';
import { resultKey, sourceKey } from '../../../shared/objects/keys.ts';
import { connectNats } from '../../../shared/nats/connect.ts';
import { jobKeyName } from '../../../shared/privacy/data-keys.ts';
import { openKvDataKeys } from '../../../shared/privacy/kv-data-keys.ts';
import { openMasterKey } from '../../../shared/privacy/master-key.ts';
import { sealTyped } from '../../../shared/privacy/typed.ts';
import { createJetStreamStore } from '../../../shared/store/jetstream.ts';
import { eventSubject } from '../../../shared/store/subjects.ts';
import { originOf } from '../../support/events.ts';
import { ImporterBench, UPLOAD_BYTES_MAX } from '../../support/importer-bench.ts';
import { created, ORGANIZATION_ID } from '../../support/job-events.ts';

const NEVER = new AbortController().signal;

describe('simulating the conversion of a test job (§5.3, D65)', function () {
  this.timeout(60_000);
  let bench: ImporterBench;
  let context: SimulationContext;
  let converters: Cleanup[];

  before(async () => {
    bench = await ImporterBench.start();
    context = { ...bench.context, resultTtlMs: 3_600_000, resultBytesMax: 1_000_000, speedFactor: 1 };
  });
  beforeEach(() => void (converters = []));
  afterEach(async () => void (await Promise.all(converters.map((cleanup) => cleanup.run(context.logger)))));
  after(() => bench.stop());

  async function startConverter(): Promise<void> {
    const cleanup = new Cleanup();
    converters.push(cleanup);
    const nc = await connectNats({ url: bench.server.url, name: 'converter', logger: context.logger });
    cleanup.add('nats', () => nc.close());
    await startSimulation({ ...context, nc, store: createJetStreamStore(nc), dataKeys: await openKvDataKeys(nc, openMasterKey(bench.masterKey)) }, cleanup);
  }

  /** A job that waits for its file, under a tag. */
  async function newJob(tag?: string, data: Partial<EventData<'job.created'>> = {}): Promise<string> {
    const jobId = newId(Date.now());
    const key = await context.dataKeys.create(jobKeyName(jobId));
    const typed = sealTyped(key, ORGANIZATION_ID, jobId, { ...(tag === undefined ? {} : { tag }), task_names: { import: 'a', convert: 'b', export: 'c' }, options: {}, ignored_options: [] });
    const { data: all } = created({ key_mode: 'test', output_format: 'webp', typed, created_at: new Date().toISOString(), upload_deadline_at: new Date(Date.now() + 3_600_000).toISOString(), ...data });
    return await bench.command(jobId, { type: 'create', data: all });
  }

  async function queuedJob(tag?: string, data: Partial<EventData<'job.created'>> = {}): Promise<string> {
    const jobId = await newJob(tag, data);
    await bench.upload(jobId, Buffer.from('any bytes'));
    const head = await bench.objects.head(sourceKey(jobId));
    return await bench.command(jobId, { type: 'receive_source', source: { size_bytes: 9, sha256: 'a'.repeat(64), etag: head?.etag ?? '' } });
  }

  /** What the importer says of a file in the end. */
  async function imported(tag: string | undefined, file: Buffer, status: JobStatus): Promise<unknown> {
    const jobId = await newJob(tag);
    await bench.upload(jobId, file);
    await bench.waitForStatus(jobId, status);
    return (await bench.events(jobId)).at(-1)?.event.data;
  }

  async function messageOf(jobId: string): Promise<WorkerMessage> {
    const stored = (await bench.events(jobId)).find(({ event }) => event.type === 'job.source_received');
    if (!stored) throw new Error('the job has no file');
    const subject = eventSubject(stored.aggregate, stored.version, stored.event.type);
    return { subject, bytes: encode(stored.aggregate, stored.version, stored.event, originOf(stored.aggregate), stored.envelope.prevhash), position: stored.position, deliveryCount: 1 };
  }

  async function timesOf(jobId: string): Promise<number[]> {
    return (await bench.events(jobId)).map(({ envelope }) => Date.parse(envelope.time));
  }

  it('goes through the same states and events as a real one, to a fixed result that costs nothing (D10)', async () => {
    await startConverter();
    const jobId = await queuedJob();
    await bench.waitForStatus(jobId, 'finished');
    expect(await bench.eventTypes(jobId)).to.deep.equal(['job.created', 'job.source_received', 'job.conversion_started', 'job.finished']);
    const [, , started, finished] = await bench.events(jobId);
    expect(started?.event.data).to.deep.equal({ attempt: 1, engine: 'simulated', engine_version: '1.0.0' });
    expect(finished?.event.data).to.deep.include({ attempt: 1, billable_ms: 1_000, speed_factor: 1, weight: 1, credits_charged: 0 });
    expect(await bench.objects.readHead(resultKey(jobId, 1), 100_000)).to.deep.equal(await readFile(resultFile('webp')));
  });

  it('leaves live jobs alone, as the conversion of live jobs leaves test jobs', async () => {
    const live = await queuedJob(undefined, { key_mode: 'live' });
    expect(await simulateConversion(context, await messageOf(live))).to.equal(DONE);
    const test = await queuedJob();
    const sandbox = await createSandbox({ mode: 'off' });
    expect(await convertJob({ ...context, sandbox, lane: 'images', engineFor: () => undefined, running: new Set(), timeLimitMs: 1_000 }, await messageOf(test), NEVER)).to.equal(DONE);
    for (const jobId of [live, test]) expect(await bench.eventTypes(jobId)).to.deep.equal(['job.created', 'job.source_received']);
  });

  it('fails in the conversion where its tag says so', async () => {
    await startConverter();
    const expected: Record<string, EventData<'job.failed'>['error']> = {
      'test:fail=internal/timeout': { code: 'internal', reason: 'timeout', cause: 'timeout' },
      'test:fail=internal/system_error test:delay=1': { code: 'internal', reason: 'system_error' },
    };
    for (const [tag, error] of Object.entries(expected)) {
      const jobId = await queuedJob(tag);
      await bench.waitForStatus(jobId, 'error');
      expect((await bench.events(jobId)).at(-1)?.event).to.deep.equal({ type: 'job.failed', data: { attempt: 1, error } });
      expect(await bench.objects.head(resultKey(jobId, 1))).to.equal(undefined);
    }
  });

  it('stays processing for as long as its tag says, and cannot be cancelled meanwhile', async () => {
    await startConverter();
    const jobId = await queuedJob('test:delay=1500');
    await bench.waitForStatus(jobId, 'processing');
    const refused = await bench.command(jobId, { type: 'cancel' }).then(() => undefined, (error: unknown) => error);
    expect(refused).to.have.property('code', 'processing_cannot_be_cancelled');
    await bench.waitForStatus(jobId, 'finished');
    const [, , startedMs = 0, finishedMs = 0] = await timesOf(jobId);
    expect(finishedMs - startedMs).to.be.at.least(1_500);
  });

  it('goes on after every converter was gone, in the same attempt and no sooner than asked', async () => {
    await startConverter();
    const jobId = await queuedJob('test:delay=1500');
    await bench.waitForStatus(jobId, 'processing');
    await converters.splice(0)[0]?.run(context.logger);
    await bench.server.kill();
    await bench.server.restart();
    await startConverter();
    await startConverter();
    await bench.waitForStatus(jobId, 'finished');
    expect((await bench.eventTypes(jobId)).slice(2)).to.deep.equal(['job.conversion_started', 'job.finished']);
    const [, , startedMs = 0, finishedMs = 0] = await timesOf(jobId);
    expect(finishedMs - startedMs).to.be.at.least(1_500);
  });

  it('ends once though the message comes many times, at once and again', async () => {
    const jobId = await queuedJob();
    const message = await messageOf(jobId);
    await Promise.all(Array.from({ length: 8 }, () => simulateConversion(context, message)));
    await simulateConversion(context, message);
    expect((await bench.eventTypes(jobId)).slice(2)).to.deep.equal(['job.conversion_started', 'job.finished']);
    expect(await bench.objects.head(resultKey(jobId, 1))).to.not.equal(undefined);
  });

  it('ends as an error where the service has no result for the format, and is not tried for ever', async () => {
    const jobId = await queuedJob(undefined, { output_format: 'flv' });
    expect(await simulateConversion(context, await messageOf(jobId))).to.equal(DONE);
    expect((await bench.events(jobId)).at(-1)?.event).to.deep.equal({ type: 'job.failed', data: { attempt: 1, error: { code: 'internal', reason: 'system_error' } } });
  });

  it('takes over a conversion that another kind of worker had begun', async () => {
    const jobId = await queuedJob();
    await bench.command(jobId, { type: 'start_conversion', attempt: 1, engine: 'image', engine_version: '1.2.3' });
    await simulateConversion(context, await messageOf(jobId));
    expect((await bench.events(jobId)).at(-1)?.event.data).to.have.property('attempt', 2);
  });

  describe('whose file is looked at by the importer', () => {
    before(() => bench.startImporter());
    after(() => bench.stopImporters());

    it('takes any bytes, whatever input_format says', async () => {
      expect(await imported(undefined, Buffer.from('no png at all'), 'queued')).to.have.property('size_bytes', 13);
    });

    it('still refuses a file that is empty or too large', async () => {
      expect(await imported(undefined, Buffer.alloc(0), 'error')).to.have.nested.property('error.cause', 'empty_file');
      expect(await imported(undefined, Buffer.alloc(UPLOAD_BYTES_MAX + 1), 'error')).to.deep.equal({ error: { code: 'file_too_large', max_bytes: UPLOAD_BYTES_MAX } });
    });

    it('ends as file_too_large once the file is there, where its tag says so', async () => {
      expect(await imported('test:fail=file_too_large', Buffer.from('small'), 'error')).to.deep.equal({ error: { code: 'file_too_large', max_bytes: bench.context.singleUploadBytesMax } });
    });
  });
});
