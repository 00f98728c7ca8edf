import { expect } from 'chai';
import { jobDecider } from '../../shared/domain/job.ts';
import type { LiveJob } from '../../shared/domain/job-state.ts';
import { fold } from '../../shared/domain/decider.ts';
import { jobAt, viewJob } from '../../shared/domain/job-view.ts';
import { DomainError } from '../../shared/errors/errors.ts';
import type { JobEvent } from '../../shared/events/registry.ts';
import { resultKey } from '../../shared/objects/keys.ts';
import { fileLinkKey, signLink, verifyLink } from '../../shared/objects/links.ts';
import { openMasterKey } from '../../shared/privacy/master-key.ts';
import { handle } from '../../shared/store/handle.ts';
import { createMemoryStore } from '../../shared/store/memory.ts';
import { originOf } from '../support/events.ts';
import { created, FINISHED_EXPIRES_AT, HISTORIES, UPLOAD_DEADLINE_AT } from '../support/job-events.ts';
import { appendAll, newJob } from '../support/log-filler.ts';

const TYPED = { task_names: { import: 'a', convert: 'b', export: 'c' }, options: {}, ignored_options: [] };

function liveJob(events: readonly JobEvent[]): LiveJob {
  const state = fold(jobDecider, events);
  if (state.kind !== 'live') throw new Error('the job is not there');
  return state;
}

function addMs(time: string, ms: number): string {
  return new Date(Date.parse(time) + ms).toISOString();
}

describe('the end of a job by the clock (§3, D39)', () => {
  it('takes the result, its link and the status away in the same millisecond', () => {
    const key = fileLinkKey(openMasterKey(Buffer.alloc(32).toString('base64')));
    const job = liveJob(HISTORIES.finished);
    const expiresAtMs = Date.parse(FINISHED_EXPIRES_AT);
    const link = signLink(key, { operation: 'download', key: resultKey(newJob().id, 1), expiresAtMs, contentType: 'image/jpeg', disposition: 'inline' });
    const [path = '', query = ''] = link.split('?');
    for (const [ms, status] of [[-1, 'finished'], [0, 'expired'], [1, 'expired']] as const) {
      const nowMs = expiresAtMs + ms;
      const seen = viewJob(newJob().id, jobAt(job, new Date(nowMs).toISOString()), TYPED, { resultUrl: link }, { tasks: true });
      const verified = verifyLink(key, { method: 'GET', path, query, nowMs });
      expect([seen.status, seen.tasks?.[2]?.result !== undefined, typeof verified === 'object'], `${ms} ms`).to.deep.equal([status, status === 'finished', status === 'finished']);
      expect(seen.expires_at).to.equal(FINISHED_EXPIRES_AT);
      expect(seen.credits_used, 'the charge stays (D8)').to.equal(1);
    }
  });

  it('ends the wait for a file after two hours, whatever the event says (D40)', () => {
    const job = liveJob(HISTORIES.waiting);
    expect(jobAt(job, addMs(UPLOAD_DEADLINE_AT, -1)).status).to.equal('waiting');
    expect(jobAt(job, UPLOAD_DEADLINE_AT).status).to.equal('expired');
    expect(viewJob(newJob().id, jobAt(job, UPLOAD_DEADLINE_AT), TYPED, {}, { tasks: true })).to.include({ status: 'expired', credits_used: 0 });
  });

  it('comes to no job whose file is there, or that has ended otherwise', () => {
    for (const history of ['queued', 'processing', 'failed in the conversion', 'cancelled'] as const) {
      const job = liveJob(HISTORIES[history]);
      expect(jobAt(job, '2099-01-01T00:00:00.000Z').status, history).to.equal(job.status);
    }
  });

  it('and a cancel, a delete and a file at the same moment leave exactly one end', async () => {
    for (let round = 0; round < 20; round += 1) {
      const store = createMemoryStore();
      const job = newJob();
      await appendAll(store, job, [created()]);
      const decide = (command: Parameters<typeof jobDecider.decide>[0]): Promise<unknown> =>
        handle(store, jobDecider, job, command, originOf(job)).catch((error: unknown) => {
          if (!(error instanceof DomainError)) throw error;
        });
      const source = { size_bytes: 1, sha256: 'a'.repeat(64), etag: 'b'.repeat(32) };
      const commands = [{ type: 'expire', now: UPLOAD_DEADLINE_AT }, { type: 'cancel' }, { type: 'expire', now: UPLOAD_DEADLINE_AT }, { type: 'receive_source', source }] as const;
      await Promise.all(commands.toSorted(() => Math.random() - 0.5).map(decide));
      const types = (await store.load(job)).map(({ event }) => event.type);
      expect(types.filter((type) => type === 'job.expired' || type === 'job.cancelled'), types.join()).to.have.length(1);
      expect(types.at(-1)).to.be.oneOf(['job.expired', 'job.cancelled']);
      await Promise.all([decide({ type: 'delete' }), decide({ type: 'delete' }), decide({ type: 'expire', now: UPLOAD_DEADLINE_AT })]);
      expect((await store.load(job)).filter(({ event }) => event.type === 'job.deleted')).to.have.length(1);
    }
  });
});
