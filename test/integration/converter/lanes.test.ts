import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { expect } from 'chai';
import { readyLanes } from '../../../services/converter/engines/ready.ts';
import { startLane } from '../../../services/converter/lane.ts';
import { convertJob } from '../../../services/converter/worker.ts';
import { waitFor } from '../../../services/standalone/processes.ts';
import type { Pair } from '../../../shared/domain/catalogue/pairs.ts';
import { LANES, type Lane } from '../../../shared/domain/catalogue/tools.ts';
import type { AggregateRef } from '../../../shared/events/envelope.ts';
import { newId } from '../../../shared/ids/ids.ts';
import { Cleanup } from '../../../shared/lifecycle/run-service.ts';
import { createLogger } from '../../../shared/log/log.ts';
import { connectNats } from '../../../shared/nats/connect.ts';
import { createJetStreamStore } from '../../../shared/store/jetstream.ts';
import { applyStreams } from '../../../streams/apply.ts';
import { ConverterBench, GatedEngine } from '../../support/converter-bench.ts';
import { originOf } from '../../support/events.ts';
import { inParallel } from '../../support/in-parallel.ts';
import { cancelled, created, sourceReceived } from '../../support/job-events.ts';
import { startNats, type TestNats } from '../../support/servers.ts';

const DONE_LIMIT_MS = 60_000;
/** How long a job waits that a queue takes for one in hand. */
const PUT_OFF_MS = 5_000;
const NEVER = new AbortController().signal;
const logger = createLogger('test', 'silent');
/** A job of the queue `office`. */
const DOCUMENT = { input_format: 'pdf', output_format: 'png' } as const;

describe('the queues of the converter', function () {
  this.timeout(120_000);
  let nats: TestNats;
  let nc: NatsConnection;
  let bench: ConverterBench;
  let cleanup: Cleanup;
  /** Converts documents. */
  let office: GatedEngine;

  beforeEach(async () => {
    nats = await startNats();
    nc = await connectNats({ url: nats.url, name: 'test', logger });
    await applyStreams(nc, { replicas: 1, log: () => undefined });
    bench = await ConverterBench.open(createJetStreamStore(nc));
    cleanup = new Cleanup();
    office = new GatedEngine();
  });
  afterEach(async () => {
    await cleanup.run(logger);
    await bench.close();
    await nc.close();
    await nats.stop();
  });

  /** Starts a queue as one process does, whose tools are those of the engines that it has. */
  async function start(lane: Lane, has: readonly Pair['engine'][]): Promise<void> {
    const engineFor = ({ engine }: Pair) => (has.includes(engine) ? { name: engine, version: '1.0.0', engine: engine === 'image' ? bench.engine : office } : undefined);
    await startLane(nc, { ...bench.anotherProcess(), lane, engineFor }, 1, cleanup);
  }

  function untilFinished(job: AggregateRef): Promise<true> {
    return waitFor('the end of a job', DONE_LIMIT_MS, async () => ((await bench.typesOf(job)).includes('job.finished') ? true : undefined));
  }

  it('do not hold each other up: a picture is ready while a document takes its time', async () => {
    await start('images', ['image', 'pdf']);
    await start('office', ['image', 'pdf']);
    const { open } = office.closeGate();
    const [long, waiting] = [await bench.queuedAs(DOCUMENT), await bench.queuedAs(DOCUMENT)];
    await waitFor('the conversion of the document', DONE_LIMIT_MS, () => office.conversions > 0 || undefined);
    const picture = await bench.queuedJob();
    await untilFinished(picture.job);
    expect(await bench.typesOf(long.job)).to.deep.equal(['job.conversion_started']);
    expect(await bench.typesOf(waiting.job)).to.deep.equal([]);
    open();
    await untilFinished(waiting.job);
  });

  it('are left to the converters that can do something of them', async () => {
    await start('images', ['image']);
    const [document, picture] = [await bench.queuedAs(DOCUMENT), await bench.queuedJob()];
    await untilFinished(picture.job);
    expect(await bench.typesOf(document.job)).to.deep.equal([]);
    await start('office', ['pdf']);
    await untilFinished(document.job);
    expect([bench.engine.conversions, office.conversions]).to.deep.equal([1, 1]);
  });

  it('look at a job at the same time, and none of them puts it off for that', async () => {
    const one = bench.anotherProcess();
    const engineFor = ({ engine }: Pair) => ({ name: engine, version: '1.0.0', engine: engine === 'image' ? bench.engine : office });
    for (const lane of LANES) await startLane(nc, { ...one, lane, engineFor }, 1, cleanup);
    for (let jobs = 0; jobs < 5; jobs += 1) {
      const startMs = performance.now();
      await untilFinished((await bench.queuedAs(DOCUMENT)).job);
      expect(performance.now() - startMs).to.be.lessThan(PUT_OFF_MS);
    }
  });

  it('are those of which a converter has any tool', () => {
    expect(lanesWith()).to.deep.equal([]);
    expect(lanesWith('image')).to.deep.equal(['images']);
    expect(lanesWith('pdf', 'image')).to.deep.equal(['images', 'office']);
    expect(LANES).to.include.members([...lanesWith('image', 'pdf', 'office', 'media')]);
  });

  it('keep a job whose tool is away for others, and look at it ever less often, at least once a minute', async () => {
    const { job, message } = await bench.queuedAs(DOCUMENT);
    const context = { ...bench.anotherProcess(), lane: 'office', engineFor: () => undefined } as const;
    const waits: unknown[] = [];
    for (const deliveryCount of [1, 2, 3, 4, 1_000]) waits.push(await convertJob(context, { ...message, deliveryCount }, NEVER));
    expect(waits).to.deep.equal([10_000, 20_000, 40_000, 60_000, 60_000].map((delayMs) => ({ kind: 'later', delayMs })));
    expect(await bench.typesOf(job)).to.deep.equal([]);
  });

  it('keep a job that a later release knows, whichever queue that has for it', async () => {
    const { job, message } = await bench.queuedAs({ input_format: 'holo', output_format: 'jpg' });
    for (const lane of LANES) expect(await convertJob({ ...bench.anotherProcess(), lane }, message, NEVER)).to.deep.equal({ kind: 'later', delayMs: 10_000 });
    expect(await bench.typesOf(job)).to.deep.equal([]);
  });

  it('come to the jobs of today at once, however many ended while nobody worked them', async () => {
    const ended = 600;
    await inParallel(ended, 32, async () => {
      const job = { kind: 'job', id: newId(Date.now()) } as const;
      let after: { version: number; hash?: string } = { version: 0 };
      for (const event of [created(DOCUMENT), sourceReceived, cancelled]) after = await bench.store.append(job, after, event, originOf(job));
    });
    const today = await bench.queuedAs(DOCUMENT);
    await start('office', ['pdf']);
    await untilFinished(today.job);
    const manager = await jetstreamManager(nc);
    await waitFor('an empty queue', DONE_LIMIT_MS, async () => {
      const { num_pending, num_ack_pending } = await manager.consumers.info('JOBS', 'converter-office');
      return num_pending + num_ack_pending === 0 || undefined;
    });
    expect(office.conversions).to.equal(1);
  });
});

/** The queues that a converter takes part in which has these engines. */
function lanesWith(...engines: readonly Pair['engine'][]): readonly Lane[] {
  return readyLanes(({ engine }) => (engines.includes(engine) ? { name: engine, version: '1.0.0', engine: new GatedEngine() } : undefined));
}
