import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { nanos, type NatsConnection } from '@nats-io/transport-node';
import { expect } from 'chai';
import { ConfigurationError, DomainError } from '../../../shared/errors/errors.ts';
import { createLogger } from '../../../shared/log/log.ts';
import { connectNats } from '../../../shared/nats/connect.ts';
import { applyStreams } from '../../../streams/apply.ts';
import { compareStream } from '../../../streams/compare.ts';
import type { StreamDefinition } from '../../../streams/definition.ts';
import { DECLARED, planStreams, type Declared } from '../../../streams/plan.ts';
import { removeConsumer } from '../../../streams/remove-consumer.ts';
import { expectFailure } from '../../support/expect-failure.ts';
import { startNats, type TestNats } from '../../support/servers.ts';

const logger = createLogger('test', 'silent');
const quiet = { replicas: 1, log: () => undefined };

describe('applying streams and consumers', () => {
  let server: TestNats;
  let nc: NatsConnection;
  beforeEach(async () => {
    server = await startNats();
    nc = await connectNats({ url: server.url, name: 'test', logger });
  });
  afterEach(async () => {
    await nc.close();
    await server.stop();
  });

  it('makes everything on an empty server, says so, and finds nothing to do when asked again', async () => {
    const lines: string[] = [];
    const made = await applyStreams(nc, { replicas: 1, log: (line) => lines.push(line) });
    expect(made).to.have.length(DECLARED.streams.length + DECLARED.consumers.length);
    expect(lines).to.include('create stream JOBS').and.to.include('create consumer JOBS/ledger-settle');
    expect(await applyStreams(nc, quiet)).to.deep.equal([]);
  });

  it('finds nothing lost after the server was killed and started again, but the counters in memory', async () => {
    await applyStreams(nc, quiet);
    await server.restart();
    const again = await connectNats({ url: server.url, name: 'test-again', logger });
    expect((await planStreams(again, 1)).map(({ action, name }) => `${action} ${name}`)).to.deep.equal(['create RATE']);
    await again.close();
  });

  it('changes nothing when it only shows', async () => {
    expect(await applyStreams(nc, { ...quiet, dryRun: true })).to.have.length.above(0);
    expect((await (await jetstreamManager(nc)).getAccountInfo()).streams).to.equal(0);
  });

  it('makes the harmless changes', async () => {
    await applyStreams(nc, quiet);
    const changed: Declared = {
      streams: change('JOBS', (config) => ({ ...config, subjects: [...config.subjects, 'job2.>'], duplicate_window: nanos(60_000) })),
      consumers: DECLARED.consumers.map((consumer) => ({ ...consumer, ackWaitMs: 45_000 })),
    };
    const differences = await applyStreams(nc, { ...quiet, declared: changed });
    expect(differences.find(({ name }) => name === 'JOBS')?.changes.map(({ field }) => field)).to.have.members(['subjects', 'duplicate_window']);
    expect(differences).to.have.length(1 + DECLARED.consumers.length);
    expect(await planStreams(nc, 1, changed)).to.deep.equal([]);
  });

  const destructive: Readonly<Record<string, { readonly declared: Declared; readonly names: string }>> = {
    'subjects that are not taken any more': { declared: withStreams(change('JOBS', (config) => ({ ...config, subjects: ['job.*.1.*'] }))), names: 'JOBS' },
    'another retention': { declared: withStreams(change('JOBS', (config) => ({ ...config, retention: 'workqueue' }))), names: 'retention' },
    'another storage': { declared: withStreams(change('CREDITS', (config) => ({ ...config, storage: 'memory' }))), names: 'CREDITS' },
    'a limit of age': { declared: withStreams(change('ACCOUNTS', (config) => ({ ...config, max_age: nanos(1000) }))), names: 'deletes messages' },
    'a lower limit of size': { declared: withStreams(change('ADVISORIES', (config) => ({ ...config, max_bytes: 1024 }))), names: 'ADVISORIES' },
    'deletion that was denied': { declared: withStreams(change('JOBS', (config) => ({ ...config, deny_delete: false }))), names: 'protection' },
    'a consumer that gets less': {
      declared: { ...DECLARED, consumers: DECLARED.consumers.map((consumer) => ({ ...consumer, filters: consumer.filters.slice(0, 1) })) },
      names: 'ledger-settle',
    },
  };
  for (const [what, { declared, names }] of Object.entries(destructive)) {
    it(`refuses ${what}, and with it everything else`, async () => {
      await applyStreams(nc, quiet);
      const harmless: Declared = { ...declared, consumers: declared.consumers.map((consumer) => ({ ...consumer, ackWaitMs: 45_000 })) };
      expect((await expectFailure(applyStreams(nc, { ...quiet, declared: harmless }), ConfigurationError)).message).to.contain(names);
      expect(await planStreams(nc, 1)).to.deep.equal([]);
    });
  }

  it('leaves what is not declared any more, says so, and makes everything else as declared', async () => {
    await applyStreams(nc, quiet);
    const lines: string[] = [];
    const fewer: Declared = {
      streams: DECLARED.streams.filter(({ name }) => name !== 'ADVISORIES'),
      consumers: DECLARED.consumers.slice(1).map((consumer) => ({ ...consumer, ackWaitMs: 45_000 })),
    };
    await applyStreams(nc, { replicas: 1, declared: fewer, log: (line) => lines.push(line) });
    expect(lines.filter((line) => line.startsWith('leave'))).to.have.length(2);
    expect(lines.join('\n')).to.contain('leave stream ADVISORIES').and.to.contain('remove-consumer JOBS importer-schedule');
    expect((await planStreams(nc, 1, fewer)).map(({ action, name }) => `${action} ${name}`)).to.deep.equal(['leave JOBS/importer-schedule', 'leave ADVISORIES']);
    expect((await planStreams(nc, 1)).map(({ action }) => action)).not.to.include('create');
  });

  it('removes a consumer on demand, but none that is declared, is not there, or was made by others', async () => {
    await applyStreams(nc, quiet);
    const fewer: Declared = { ...DECLARED, consumers: DECLARED.consumers.slice(1) };
    expect((await expectFailure(removeConsumer(nc, 'JOBS', 'importer-schedule'), DomainError)).code).to.equal('declared');
    await removeConsumer(nc, 'JOBS', 'importer-schedule', fewer);
    expect(await planStreams(nc, 1, fewer)).to.deep.equal([]);
    expect((await expectFailure(removeConsumer(nc, 'JOBS', 'importer-schedule', fewer), DomainError)).code).to.equal('not_found');
    await (await jetstreamManager(nc)).consumers.add('JOBS', { durable_name: 'report', ack_policy: 'explicit' });
    expect((await expectFailure(removeConsumer(nc, 'JOBS', 'report'), DomainError)).code).to.equal('not_ours');
  });

  it('refuses fewer copies than there are', async () => {
    await applyStreams(nc, quiet);
    const { config } = await (await jetstreamManager(nc)).streams.info('JOBS');
    const [fewer] = compareStream({ num_replicas: 1 }, { ...config, num_replicas: 3 });
    expect(fewer?.destructive).to.contain('NATS_REPLICAS');
  });

  it('leaves alone what others made in the same account', async () => {
    await applyStreams(nc, quiet);
    const manager = await jetstreamManager(nc);
    await manager.streams.add({ name: 'OTHERS', subjects: ['others.>'] });
    await manager.consumers.add('JOBS', { durable_name: 'report', ack_policy: 'explicit' });
    expect(await applyStreams(nc, quiet)).to.deep.equal([]);
  });

  it('lets nobody delete events, and hears only what was stored', async () => {
    await applyStreams(nc, quiet);
    const stored = nc.subscribe('stored.job.>', { max: 1 });
    const js = jetstream(nc);
    const expectation = { lastSubjectSequence: 0, lastSubjectSequenceSubject: 'job.a.1.*' };
    const { seq } = await js.publish('job.a.1.created', '{}', { expect: expectation });
    await expectFailure(js.publish('job.a.1.deleted', '{}', { expect: expectation }), Error);
    await expectFailure(js.publish('job.stray', '{}'), Error);
    const heard = [];
    for await (const message of stored) heard.push(message.subject);
    expect(heard).to.deep.equal(['stored.job.a.1.created']);
    const manager = await jetstreamManager(nc);
    await expectFailure(manager.streams.deleteMessage('JOBS', seq), Error);
    await expectFailure(manager.streams.purge('JOBS'), Error);
  });

  it('keeps a record of what a worker gave up', async () => {
    await applyStreams(nc, quiet);
    await jetstream(nc).publish('job.a.1.source_received', '{}');
    const message = await (await jetstream(nc).consumers.get('JOBS', 'converter-images')).next();
    message?.term('Defect');
    const advisory = await (await jetstream(nc).consumers.get('ADVISORIES')).next();
    expect(advisory?.json()).to.include({ stream: 'JOBS', consumer: 'converter-images', reason: 'Defect' });
  });
});

function change(stream: string, alter: (config: StreamDefinition['config']) => StreamDefinition['config']): StreamDefinition[] {
  return DECLARED.streams.map((definition) => (definition.name === stream ? { ...definition, config: alter(definition.config) } : definition));
}

function withStreams(streams: readonly StreamDefinition[]): Declared {
  const names = new Set(streams.map(({ name }) => name));
  return { streams, consumers: DECLARED.consumers.filter(({ stream }) => names.has(stream)) };
}
