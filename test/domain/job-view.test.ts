import { expect } from 'chai';
import { fold } from '../../shared/domain/decider.ts';
import { jobDecider } from '../../shared/domain/job.ts';
import type { JobStatus, LiveJob } from '../../shared/domain/job-state.ts';
import { jobAt, viewJob, withUploadUrl, type JobLinks, type JobTyped, type JobView } from '../../shared/domain/job-view.ts';
import type { EventData, JobEvent } from '../../shared/events/registry.ts';
import { API_KEY_ID, cancelled, conversionProgressed, conversionStarted, created, CREATED_AT, expired, failed, finished, FINISHED_EXPIRES_AT, HISTORIES, sourceReceived, UPLOAD_DEADLINE_AT, type History } from '../support/job-events.ts';

const JOB_ID = '0190a000-0000-7000-8000-00000000000a';
const TYPED: JobTyped = { task_names: { import: 'in', convert: 'turn', export: 'out' }, options: {}, ignored_options: [] };
const LINKS: JobLinks = { resultUrl: 'https://files.example/down' };

describe('the job as clients see it', () => {
  it('always has mode single, and says in both spellings when it was made and whether it is a test (D5, D7)', () => {
    expect(view([created()])).to.include({ id: JOB_ID, mode: 'single', testMode: false, test_mode: false, createdAt: CREATED_AT, created_at: CREATED_AT, api_key_id: API_KEY_ID });
    expect(view([created({ key_mode: 'test' })])).to.include({ mode: 'single', testMode: true, test_mode: true });
  });

  it('omits a tag that was not given (D6)', () => {
    expect(view([created()])).not.to.have.property('tag');
    expect(view([created()], { typed: { ...TYPED, tag: '' } })).to.have.property('tag', '');
  });

  it('shows credits_used only at the end: the charge at finished, also after expiry, else 0 (D8)', () => {
    for (const history of ['waiting', 'queued', 'processing'] as const) expect(view(HISTORIES[history]), history).not.to.have.property('credits_used');
    expect(creditsUsed('finished')).to.equal(1);
    expect(creditsUsed('expired after its result')).to.equal(1);
    for (const history of ['failed before the conversion', 'failed in the conversion', 'cancelled', 'expired without a file'] as const) expect(creditsUsed(history), history).to.equal(0);
  });

  it('always has expires_at: provisional at first, fixed by the finish (D9)', () => {
    expect(view(HISTORIES.waiting).expires_at).to.equal('2026-01-02T00:00:00.000Z');
    expect(view(HISTORIES.finished).expires_at).to.equal(FINISHED_EXPIRES_AT);
    expect(view(HISTORIES['expired after its result']).expires_at).to.equal(FINISHED_EXPIRES_AT);
  });

  it('shows the normal estimate for a test job, and no charge (D10)', () => {
    const events = [created({ key_mode: 'test', credits_estimated: 4 }), sourceReceived, conversionStarted(), finished({ credits_charged: 0 })];
    expect(view(events)).to.include({ credits_estimated: 4, credits_used: 0 });
  });

  it('leaves the tasks away where they are not asked for', () => {
    expect(view([created()], { tasks: false })).not.to.have.property('tasks');
  });
});

describe('the error of a job', () => {
  it('has a code, a sentence and details, and no request id (D12, D38)', () => {
    const error = errorOf({ code: 'internal', reason: 'system_error', cause: 'empty_file' });
    expect(error).to.deep.equal({
      code: 'internal',
      message: 'The file is empty. Create a new job and upload the whole file.',
      details: { reason: 'system_error', cause: 'empty_file', retryable: false },
    });
  });

  it('names the limit of a file that is too large (D91)', () => {
    const error = errorOf({ code: 'file_too_large', max_bytes: 104_857_600 });
    expect(error).to.deep.equal({ code: 'file_too_large', message: 'The file is larger than allowed.', details: { max_bytes: 104_857_600 } });
  });

  it('omits details that would be empty (D74)', () => {
    expect(errorOf({ code: 'url_import_failed' })).not.to.have.property('details');
  });

  it('is there at status error only', () => {
    for (const history of Object.keys(HISTORIES) as History[]) {
      const state = fold(jobDecider, HISTORIES[history]);
      if (state.kind === 'live') expect('error' in view(HISTORIES[history]), history).to.equal(state.status === 'error');
    }
  });
});

describe('the tasks of a job', () => {
  it('stand in the order of their roles whatever their names are (D13)', () => {
    const typed = { ...TYPED, task_names: { import: '2', convert: '1', export: '__proto__' } };
    const tasks = view([created()], { typed }).tasks;
    expect(tasks?.map((task) => task.name)).to.deep.equal(['2', '1', '__proto__']);
    expect(tasks?.map((task) => task.operation)).to.deep.equal(['import/upload', 'convert', 'export/url']);
    expect(view([created({ import: 'url' })]).tasks?.[0]?.operation).to.equal('import/url');
  });

  const STATUSES: readonly (readonly [string, readonly JobEvent[], readonly JobStatus[]])[] = [
    ['waiting for an upload', [created()], ['waiting', 'waiting', 'waiting']],
    ['waiting for a URL', [created({ import: 'url' })], ['processing', 'waiting', 'waiting']],
    ['queued', HISTORIES.queued, ['finished', 'queued', 'waiting']],
    ['processing', HISTORIES.processing, ['finished', 'processing', 'waiting']],
    ['finished', HISTORIES.finished, ['finished', 'finished', 'finished']],
    ['failed before its file was there', HISTORIES['failed before the conversion'], ['error', 'error', 'error']],
    ['failed while queued', [created(), sourceReceived, failed()], ['finished', 'error', 'error']],
    ['failed in the conversion', HISTORIES['failed in the conversion'], ['finished', 'error', 'error']],
    ['cancelled while waiting', [created(), cancelled], ['cancelled', 'cancelled', 'cancelled']],
    ['cancelled while queued', [created(), sourceReceived, cancelled], ['finished', 'cancelled', 'cancelled']],
    ['never uploaded', [created(), expired('never_uploaded')], ['expired', 'expired', 'expired']],
    ['expired after its result', HISTORIES['expired after its result'], ['finished', 'finished', 'expired']],
  ];
  for (const [name, events, expected] of STATUSES) {
    it(`of a job ${name} are ${expected.join(', ')} (D14)`, () => {
      expect(view(events).tasks?.map((task) => task.status)).to.deep.equal(expected);
    });
  }

  it('say how far the conversion is while an attempt is at it, and only then (D14)', () => {
    const started = HISTORIES.processing;
    expect(progressOf(started)).to.deep.equal([undefined, 0, undefined]);
    expect(progressOf([...started, conversionProgressed(15), conversionProgressed(40)])).to.deep.equal([undefined, 40, undefined]);
    expect(progressOf([...started, conversionProgressed(40), conversionStarted(2)])).to.deep.equal([undefined, 0, undefined]);
    for (const end of [finished(), failed({ attempt: 1 })]) expect(progressOf([...started, conversionProgressed(40), end])).to.deep.equal([undefined, undefined, undefined]);
    expect(progressOf(HISTORIES.queued)).to.deep.equal([undefined, undefined, undefined]);
  });

  it('have credits that add up to credits_used, all on the conversion (D16)', () => {
    for (const history of ['waiting', 'processing', 'finished', 'expired after its result', 'cancelled'] as const) {
      const job = view(HISTORIES[history]);
      expect(job.tasks?.map((task) => task.credits), history).to.deep.equal([0, job.credits_used ?? 0, 0]);
    }
  });

  it('carry the upload URL only when it is handed in, under its camelCase name (D17, D18)', () => {
    const withUrl = withUploadUrl(view([created()]), 'https://files.example/up');
    expect(withUrl.tasks?.map(({ result }) => result)).to.deep.equal([{ uploadUrl: 'https://files.example/up' }, undefined, undefined]);
    expect(view([created()]).tasks?.[0]).not.to.have.property('result');
  });

  it('carry the result only while it is kept (D19)', () => {
    expect(resultOf(HISTORIES.finished, CREATED_AT)).to.deep.equal({ url: 'https://files.example/down', urlExpiresAt: FINISHED_EXPIRES_AT });
    expect(resultOf(HISTORIES.finished, FINISHED_EXPIRES_AT)).to.equal(undefined);
    for (const history of ['waiting', 'processing', 'expired after its result', 'cancelled'] as const) expect(resultOf(HISTORIES[history], CREATED_AT), history).to.equal(undefined);
  });

  it('name options that had no effect (D22)', () => {
    const job = view([created()], { typed: { ...TYPED, ignored_options: ['colour'] } });
    expect(job.tasks?.[1]?.ignored_options).to.deep.equal(['colour']);
    expect(view([created()]).tasks?.[1]).not.to.have.property('ignored_options');
  });
});

describe('the clock', () => {
  it('expires a result and an open upload window though their events are still on the way (D39)', () => {
    expect(statusAt(HISTORIES.finished, '2026-01-02T00:59:59.999Z')).to.equal('finished');
    expect(statusAt(HISTORIES.finished, FINISHED_EXPIRES_AT)).to.equal('expired');
    expect(statusAt(HISTORIES.waiting, '2026-01-01T01:59:59.999Z')).to.equal('waiting');
    expect(statusAt(HISTORIES.waiting, UPLOAD_DEADLINE_AT)).to.equal('expired');
  });

  it('expires neither a job whose URL is being fetched nor one that is on its way through the conversion', () => {
    for (const history of ['waiting for a URL', 'queued', 'processing', 'cancelled'] as const) {
      const job = live(HISTORIES[history]);
      expect(jobAt(job, '2030-01-01T00:00:00.000Z'), history).to.equal(job);
    }
  });

  it('gives the same view as the event that follows', () => {
    const options = { links: LINKS, now: FINISHED_EXPIRES_AT };
    expect(view(HISTORIES.finished, options)).to.deep.equal(view(HISTORIES['expired after its result'], options));
    const window = { now: UPLOAD_DEADLINE_AT };
    expect(view(HISTORIES.waiting, window)).to.deep.equal(view(HISTORIES['expired without a file'], window));
  });
});

function live(events: readonly JobEvent[]): LiveJob {
  const state = fold(jobDecider, events);
  if (state.kind !== 'live') throw new Error('these events make no live job');
  return state;
}

function progressOf(events: readonly JobEvent[]): readonly (number | undefined)[] | undefined {
  return view(events).tasks?.map((task) => task.progress);
}

function view(events: readonly JobEvent[], options: { typed?: JobTyped; links?: JobLinks; now?: string; tasks?: boolean } = {}): JobView {
  const { typed = TYPED, links = {}, now = CREATED_AT, tasks = true } = options;
  return viewJob(JOB_ID, jobAt(live(events), now), typed, links, { tasks });
}

function creditsUsed(history: History): number | undefined {
  return view(HISTORIES[history]).credits_used;
}

function errorOf(error: EventData<'job.failed'>['error']): JobView['error'] {
  return view([created(), failed({ error })]).error;
}

function resultOf(events: readonly JobEvent[], now: string): unknown {
  return view(events, { links: LINKS, now }).tasks?.[2]?.result;
}

function statusAt(events: readonly JobEvent[], now: string): JobStatus {
  return jobAt(live(events), now).status;
}
