import { expect } from 'chai';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { waitFor } from '../../../services/standalone/processes.ts';
import { Defect, TransientError } from '../../../shared/errors/errors.ts';
import { deriveId, newId } from '../../../shared/ids/ids.ts';
import { createLogger } from '../../../shared/log/log.ts';
import { connectNats } from '../../../shared/nats/connect.ts';
import { dueFilter, parseDueTimer, scheduleTimer } from '../../../shared/timers/timers.ts';
import { applyStreams } from '../../../streams/apply.ts';
import { expectFailure } from '../../support/expect-failure.ts';
import { startNats, type TestNats } from '../../support/servers.ts';

/** How long a test waits for a timer to appear, in ms; it is due within two seconds. */
const APPEARS_MS_MAX = 10_000;

type Due = { readonly atMs: number; readonly subject: string; readonly body: string };

describe('timers', function () {
  this.timeout(40_000);
  let server: TestNats;
  let nc: NatsConnection;

  before(async () => {
    server = await startNats();
    nc = await connectNats({ url: server.url, name: 'test', logger: createLogger('test', 'silent') });
    await applyStreams(nc, { replicas: 1, log: () => undefined });
  });
  after(async () => {
    await nc.close();
    await server.stop();
  });

  /** The first timer about `id` that is due, or undefined when none appears in time. */
  async function nextDue(id: string, withinMs: number): Promise<Due | undefined> {
    const consumer = await jetstream(nc).consumers.get('TIMERS', { filter_subjects: `timer.due.*.${id}` });
    const message = await consumer.next({ expires: withinMs });
    return message ? { atMs: message.info.timestampNanos / 1e6, subject: message.subject, body: message.string() } : undefined;
  }

  it('appear when they are due, not before, and about what they are', async () => {
    const id = newId(Date.now());
    const dueAtMs = Date.now() + 1_500;
    await scheduleTimer(nc, { kind: 'upload_check', subjectTokens: [id], dueAtMs, body: { tries: 3 } });
    const due = await nextDue(id, APPEARS_MS_MAX);
    expect(due?.atMs).to.be.within(dueAtMs - 20, dueAtMs + 1_000);
    expect(parseDueTimer(due?.subject ?? '')).to.deep.equal({ kind: 'upload_check', tokens: [id] });
    expect(JSON.parse(due?.body ?? '')).to.deep.equal({ tries: 3 });
  });

  it('appear at once when their time is past', async () => {
    const id = newId(Date.now());
    const startedMs = Date.now();
    await scheduleTimer(nc, { kind: 'result_ttl', subjectTokens: [id], dueAtMs: startedMs - 3_600_000 });
    const due = await nextDue(id, APPEARS_MS_MAX);
    expect(due?.atMs).to.be.below(startedMs + 1_500);
  });

  it('are moved when they are set again, and appear once', async () => {
    const id = newId(Date.now());
    const timer = { kind: 'upload_window', subjectTokens: [id] } as const;
    await scheduleTimer(nc, { ...timer, dueAtMs: Date.now() + 60_000 });
    await scheduleTimer(nc, { ...timer, dueAtMs: Date.now() + 500 });
    await scheduleTimer(nc, { ...timer, dueAtMs: Date.now() + 500 });
    expect((await nextDue(id, APPEARS_MS_MAX))?.subject).to.equal(`timer.due.upload_window.${id}`);
    const manager = await jetstreamManager(nc, { checkAPI: false });
    expect((await manager.streams.info('TIMERS', { subjects_filter: `timer.*.upload_window.${id}` })).state.subjects).to.deep.equal({ [`timer.due.upload_window.${id}`]: 1 });
  });

  it('can be set again after they appeared', async () => {
    const id = newId(Date.now());
    const timer = { kind: 'upload_check', subjectTokens: [id] } as const;
    await scheduleTimer(nc, { ...timer, dueAtMs: Date.now(), body: 1 });
    expect((await nextDue(id, APPEARS_MS_MAX))?.body).to.equal('1');
    const consumer = await jetstream(nc).consumers.get('TIMERS', { filter_subjects: `timer.due.*.${id}` });
    expect((await consumer.next({ expires: APPEARS_MS_MAX }))?.string()).to.equal('1');
    await scheduleTimer(nc, { ...timer, dueAtMs: Date.now() + 300, body: 2 });
    expect((await consumer.next({ expires: APPEARS_MS_MAX }))?.string()).to.equal('2');
  });

  it('survive kill -9 of the server, also when they come due while it is down', async () => {
    const [early, late] = [newId(Date.now()), newId(Date.now())];
    await scheduleTimer(nc, { kind: 'orphaned_hold', subjectTokens: [early], dueAtMs: Date.now() + 300 });
    await scheduleTimer(nc, { kind: 'orphaned_hold', subjectTokens: [late], dueAtMs: Date.now() + 3_000 });
    await server.kill();
    await expectFailure(scheduleTimer(nc, { kind: 'orphaned_hold', subjectTokens: [early], dueAtMs: 0 }), TransientError);
    await server.restart();
    await waitFor('the connection', APPEARS_MS_MAX, () => nc.flush().then(() => true, () => undefined));
    expect(await nextDue(early, APPEARS_MS_MAX)).to.not.equal(undefined);
    expect(await nextDue(late, APPEARS_MS_MAX)).to.not.equal(undefined);
  });

  it('are refused about anything but ids of ours', async () => {
    for (const subjectTokens of [[], ['>'], ['a b'], Array.from({ length: 5 }, (_, index) => deriveId(index))]) {
      await expectFailure(scheduleTimer(nc, { kind: 'result_ttl', subjectTokens, dueAtMs: 0 }), Defect);
    }
  });

  it('have a subject that tells kind and ids, and nothing else does', () => {
    const id = deriveId('job');
    expect(dueFilter('result_ttl')).to.equal('timer.due.result_ttl.>');
    for (const subject of [`timer.due.lunch.${id}`, 'timer.due.result_ttl', `timer.scheduled.result_ttl.${id}`, 'timer.due.result_ttl.1']) {
      expect(() => parseDueTimer(subject), subject).to.throw(Defect);
    }
  });
});
