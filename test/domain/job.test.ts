import { expect } from 'chai';
import { fold } from '../../shared/domain/decider.ts';
import type { JobRefusal } from '../../shared/domain/job-refusal.ts';
import { isExhausted, jobDecider, type JobCommand } from '../../shared/domain/job.ts';
import { MULTIPART_STARTS_MAX, partBytes, planMultipart } from '../../shared/domain/multipart.ts';
import type { JobEvent } from '../../shared/events/registry.ts';
import { specify } from '../support/decider-spec.ts';
import {
  ASSEMBLED, assembledReceived, cancelled, conversionInterrupted, conversionProgressed, conversionStarted, created, CREATED_AT, DAMAGED, deleted, expired, failed, finished, FINISHED_EXPIRES_AT, HISTORIES, multipartAborted, multipartCompleted, multipartStarted, PLAN, RESULT, SOURCE,
  sourceReceived, UPLOAD_DEADLINE_AT, type History,
} from '../support/job-events.ts';

const given = specify(jobDecider);

/** A job whose upload in parts was started and discarded so often. */
function discardedUploads(times: number): JobEvent[] {
  return [created(), ...Array.from({ length: times }, () => [multipartStarted, multipartAborted]).flat()];
}

/** Later than every deadline of the histories. */
const LATE = '2026-02-01T00:00:00.000Z';

const COMMANDS = {
  create: { type: 'create', data: created().data },
  'start parts': { type: 'start_multipart', plan: PLAN },
  'complete parts': { type: 'complete_multipart', file: ASSEMBLED },
  'discard parts': { type: 'abort_multipart' },
  'receive the source': { type: 'receive_source', source: SOURCE },
  'start attempt 1': { type: 'start_conversion', attempt: 1, engine: 'image', engine_version: '1.2.3' },
  'start attempt 2': { type: 'start_conversion', attempt: 2, engine: 'image', engine_version: '1.2.3' },
  'start attempt 3': { type: 'start_conversion', attempt: 3, engine: 'image', engine_version: '1.2.3' },
  'hand back attempt 1': { type: 'interrupt_conversion', attempt: 1 },
  'hand back attempt 2': { type: 'interrupt_conversion', attempt: 2 },
  'say that attempt 1 is at 30 percent': { type: 'report_progress', attempt: 1, percent: 30 },
  'say that attempt 1 is at 60 percent': { type: 'report_progress', attempt: 1, percent: 60 },
  'finish attempt 1': finish(1),
  'finish attempt 2': finish(2),
  'fail attempt 1': { type: 'fail', attempt: 1, error: DAMAGED },
  'fail attempt 2': { type: 'fail', attempt: 2, error: DAMAGED },
  'fail before any attempt': { type: 'fail', error: DAMAGED },
  cancel: { type: 'cancel' },
  'expire at last': { type: 'expire', now: LATE },
  'expire at once': { type: 'expire', now: CREATED_AT },
  delete: { type: 'delete' },
  abandon: { type: 'abandon' },
} as const satisfies Record<string, JobCommand>;

type CommandName = keyof typeof COMMANDS;

/** An event, nothing left to do, or a refusal; every cell stands here in full, computed from nothing. */
type Expected = JobEvent | null | JobRefusal;

/** What every job refuses that has no result to come and no file to wait for. */
const OVER: Readonly<Record<Exclude<CommandName, 'delete' | 'expire at last' | 'expire at once'>, JobRefusal | null>> = {
  create: 'already_exists',
  'start parts': 'already_terminal',
  'complete parts': 'multipart_not_started',
  'discard parts': 'multipart_not_started',
  'receive the source': 'not_waiting',
  'start attempt 1': 'not_queued',
  'start attempt 2': 'not_queued',
  'start attempt 3': 'not_queued',
  'hand back attempt 1': 'attempt_fenced',
  'hand back attempt 2': 'attempt_fenced',
  'say that attempt 1 is at 30 percent': 'attempt_fenced',
  'say that attempt 1 is at 60 percent': 'attempt_fenced',
  'finish attempt 1': 'attempt_fenced',
  'finish attempt 2': 'attempt_fenced',
  'fail attempt 1': 'attempt_fenced',
  'fail attempt 2': 'attempt_fenced',
  'fail before any attempt': 'not_waiting',
  cancel: 'already_terminal',
  abandon: null,
};

const ENDED: Readonly<Record<CommandName, Expected>> = { ...OVER, 'expire at last': null, 'expire at once': null, delete: deleted(false) };

const WAITING: Readonly<Record<CommandName, Expected>> = {
  ...OVER,
  'start parts': multipartStarted,
  'receive the source': sourceReceived,
  'fail before any attempt': failed(),
  cancel: cancelled,
  'expire at last': expired('never_uploaded'),
  'expire at once': 'not_due',
  delete: deleted(true),
};

const QUEUED: Readonly<Record<CommandName, Expected>> = {
  ...OVER,
  'start parts': 'not_waiting',
  'start attempt 1': conversionStarted(1),
  'start attempt 2': 'attempt_fenced',
  'start attempt 3': 'attempt_fenced',
  'fail before any attempt': failed(),
  cancel: cancelled,
  'expire at last': null,
  'expire at once': null,
  delete: deleted(true),
};

const PROCESSING: Readonly<Record<CommandName, Expected>> = {
  ...OVER,
  'start parts': 'not_waiting',
  'start attempt 1': 'attempt_fenced',
  'start attempt 2': conversionStarted(2),
  'start attempt 3': 'attempt_fenced',
  'hand back attempt 1': conversionInterrupted(1),
  'say that attempt 1 is at 30 percent': conversionProgressed(30),
  'say that attempt 1 is at 60 percent': conversionProgressed(60),
  'finish attempt 1': finished(),
  'fail attempt 1': failed({ attempt: 1 }),
  cancel: 'processing_cannot_be_cancelled',
  'expire at last': null,
  'expire at once': null,
  delete: 'processing_cannot_be_deleted',
};

const TABLE: Readonly<Record<History, Readonly<Record<CommandName, Expected>>>> = {
  nothing: { ...everything('not_found'), create: created(), abandon: deleted(true) },
  waiting: WAITING,
  'waiting for parts': { ...WAITING, 'start parts': null, 'complete parts': multipartCompleted, 'discard parts': multipartAborted },
  'waiting after its parts were assembled': {
    ...WAITING,
    'start parts': null,
    'complete parts': null,
    'discard parts': 'already_uploaded',
    'receive the source': 'already_uploaded',
    'expire at last': failed({ error: { code: 'internal', reason: 'system_error', cause: 'source_damaged' } }),
  },
  'waiting after its parts were discarded': WAITING,
  'waiting for a URL': { ...WAITING, 'start parts': 'not_an_upload', 'expire at last': failed({ error: { code: 'url_import_failed', reason: 'timeout' } }) },
  queued: QUEUED,
  'queued with a file of parts': { ...QUEUED, 'complete parts': null, 'discard parts': 'not_waiting' },
  processing: PROCESSING,
  'processing in a second attempt': {
    ...PROCESSING,
    'start attempt 2': 'attempt_fenced',
    'start attempt 3': conversionStarted(3),
    'hand back attempt 1': 'attempt_fenced',
    'hand back attempt 2': conversionInterrupted(2),
    'say that attempt 1 is at 30 percent': 'attempt_fenced',
    'say that attempt 1 is at 60 percent': 'attempt_fenced',
    'finish attempt 1': 'attempt_fenced',
    'finish attempt 2': finished({ attempt: 2 }),
    'fail attempt 1': 'attempt_fenced',
    'fail attempt 2': failed({ attempt: 2 }),
  },
  'processing with a word on its progress': { ...PROCESSING, 'say that attempt 1 is at 30 percent': null },
  'processing by nobody': { ...PROCESSING, 'hand back attempt 1': null, 'say that attempt 1 is at 30 percent': 'attempt_fenced', 'say that attempt 1 is at 60 percent': 'attempt_fenced', 'finish attempt 1': 'attempt_fenced' },
  finished: { ...ENDED, 'expire at last': expired('result_ttl'), 'expire at once': 'not_due' },
  'failed before the conversion': ENDED,
  'failed in the conversion': ENDED,
  'failed after its parts were assembled': { ...ENDED, 'complete parts': null, 'discard parts': 'already_terminal' },
  'cancelled while parts were missing': { ...ENDED, 'complete parts': 'already_terminal', 'discard parts': 'already_terminal' },
  cancelled: ENDED,
  'expired without a file': ENDED,
  'expired after its result': ENDED,
  deleted: { ...everything('not_found'), create: 'already_exists', abandon: null },
  abandoned: { ...everything('not_found'), create: 'already_exists', abandon: null },
};

describe('the life of a job, every command in every situation (§3)', () => {
  for (const history of Object.keys(TABLE) as History[]) {
    for (const command of Object.keys(COMMANDS) as CommandName[]) {
      const expected = TABLE[history][command];
      it(`${history}: ${command} ${describeExpected(expected)}`, () => {
        const decision = given(HISTORIES[history]).when(COMMANDS[command]);
        if (typeof expected === 'string') decision.thenRefused(expected);
        else decision.thenDecides(expected);
      });
    }
  }
});

describe('a file that is uploaded in parts', () => {
  it('is the source as soon as it is assembled, and no other file is (D46)', () => {
    given(HISTORIES['waiting after its parts were assembled']).when({ type: 'receive_source', source: { ...SOURCE, etag: ASSEMBLED.etag } }).thenDecides(assembledReceived);
    given(HISTORIES['waiting for parts']).when(COMMANDS['receive the source']).thenDecides(sourceReceived);
  });

  it('is completed once, with the parts it was completed with (D45)', () => {
    const other = { type: 'complete_multipart', file: { ...ASSEMBLED, etag: `${'f'.repeat(32)}-2` } } as const;
    given(HISTORIES['waiting after its parts were assembled']).when(other).thenRefused('already_uploaded', { status: 'waiting' });
    given(HISTORIES['queued with a file of parts']).when(other).thenRefused('already_uploaded', { status: 'queued' });
  });

  it('may be started, discarded and started again; each start has a number of its own (§4.4)', () => {
    const events = [created(), multipartStarted, multipartAborted, multipartStarted];
    given(events.slice(0, 3)).when(COMMANDS['start parts']).thenDecides(multipartStarted);
    const state = fold(jobDecider, events);
    expect(state).to.include({ multipartStarts: 2 }).and.to.deep.include({ multipart: PLAN });
    expect(fold(jobDecider, events.slice(0, 3))).to.not.have.property('multipart');
  });

  it('is started at most 20 times for one job, so that no client makes its log longer without end (§4.4)', () => {
    expect(MULTIPART_STARTS_MAX).to.equal(20);
    given(discardedUploads(19)).when(COMMANDS['start parts']).thenDecides(multipartStarted);
    given([...discardedUploads(19), multipartStarted]).when(COMMANDS['start parts']).thenDecides(null);
    given(discardedUploads(20)).when(COMMANDS['start parts']).thenRefused('too_many_multipart_starts', { status: 'waiting' });
    given(discardedUploads(20)).when(COMMANDS['receive the source']).thenDecides(sourceReceived);
    given([...discardedUploads(20), cancelled]).when(COMMANDS['start parts']).thenRefused('already_terminal', { status: 'cancelled' });
  });

  it('names the status in every refusal (D43)', () => {
    given(HISTORIES.queued).when(COMMANDS['start parts']).thenRefused('not_waiting', { status: 'queued' });
    given(HISTORIES['cancelled while parts were missing']).when(COMMANDS['complete parts']).thenRefused('already_terminal', { status: 'cancelled' });
  });

  it('is cut into equal parts and a last one with the rest (§2.5, D42)', () => {
    expect(planMultipart(1)).to.deep.equal({ size_bytes: 1, part_size: 26_214_400, parts_expected: 1 });
    expect(planMultipart(26_214_400)).to.include({ parts_expected: 1 });
    const plan = planMultipart(1_073_741_824);
    expect(plan.parts_expected).to.equal(41);
    expect([1, 40, 41].map((number) => partBytes(plan, number))).to.deep.equal([26_214_400, 26_214_400, 25_165_824]);
    expect(partBytes(planMultipart(26_214_400), 1)).to.equal(26_214_400);
  });
});

describe('what a job decides besides its status', () => {
  it('is exhausted by three deaths, not by attempts that were handed back (D95)', () => {
    const start = [created(), sourceReceived];
    const exhausted = (...events: JobEvent[]): boolean => {
      const state = fold(jobDecider, [...start, ...events]);
      return state.kind === 'live' && isExhausted(state);
    };
    const handedBack = [1, 2, 3, 4].flatMap((attempt) => [conversionStarted(attempt), conversionInterrupted(attempt)]);
    expect(exhausted(conversionStarted(1), conversionStarted(2))).to.equal(false);
    expect(exhausted(conversionStarted(1), conversionStarted(2), conversionStarted(3))).to.equal(true);
    expect(exhausted(...handedBack)).to.equal(false);
    expect(exhausted(...handedBack, conversionStarted(5), conversionStarted(6))).to.equal(false);
    expect(exhausted(...handedBack, conversionStarted(5), conversionStarted(6), conversionStarted(7))).to.equal(true);
  });

  it('names the current status in refusals, so that a client can be told (D35)', () => {
    given(HISTORIES.processing).when(COMMANDS.cancel).thenRefused('processing_cannot_be_cancelled', { status: 'processing' });
    given(HISTORIES.processing).when(COMMANDS.delete).thenRefused('processing_cannot_be_deleted', { status: 'processing' });
    given(HISTORIES.cancelled).when(COMMANDS.cancel).thenRefused('already_terminal', { status: 'cancelled' });
    given(HISTORIES['failed before the conversion']).when(COMMANDS.cancel).thenRefused('already_terminal', { status: 'error' });
    given(HISTORIES['expired after its result']).when(COMMANDS.cancel).thenRefused('already_terminal', { status: 'expired' });
  });

  it('says nothing of a job that is not there', () => {
    given(HISTORIES.nothing).when(COMMANDS.cancel).thenRefused('not_found', {});
    given(HISTORIES.deleted).when(COMMANDS.delete).thenRefused('not_found', {});
  });

  it('expires exactly at the deadline and not a millisecond before (D40)', () => {
    given(HISTORIES.waiting).when({ type: 'expire', now: '2026-01-01T01:59:59.999Z' }).thenRefused('not_due');
    given(HISTORIES.waiting).when({ type: 'expire', now: UPLOAD_DEADLINE_AT }).thenDecides(expired('never_uploaded'));
    given(HISTORIES.finished).when({ type: 'expire', now: '2026-01-02T00:59:59.999Z' }).thenRefused('not_due');
    given(HISTORIES.finished).when({ type: 'expire', now: FINISHED_EXPIRES_AT }).thenDecides(expired('result_ttl'));
  });

  it('fails when a file of parts could not be read for a day after the upload window (§3)', () => {
    const assembled = HISTORIES['waiting after its parts were assembled'];
    given(assembled).when({ type: 'expire', now: '2026-01-02T01:59:59.999Z' }).thenRefused('not_due');
    given(assembled).when({ type: 'expire', now: '2026-01-02T02:00:00.000Z' }).thenDecides(failed({ error: { code: 'internal', reason: 'system_error', cause: 'source_damaged' } }));
  });

  it('charges a live job by its own weight, a test job nothing (§2.7, D10)', () => {
    const heavy = created({ weight: 4, credits_estimated: 40 });
    const usage = { billable_ms: 60_001, weight: 4 };
    given([heavy, sourceReceived, conversionStarted()]).when({ ...finish(1), billable_ms: 60_001 }).thenDecides(finished({ ...usage, credits_charged: 8 }));
    const test = created({ weight: 4, credits_estimated: 40, key_mode: 'test' });
    given([test, sourceReceived, conversionStarted()]).when({ ...finish(1), billable_ms: 60_001 }).thenDecides(finished({ ...usage, credits_charged: 0 }));
  });

  it('never charges above what is held (D24)', () => {
    given(HISTORIES.processing).when({ ...finish(1), billable_ms: 600_000 }).thenDecides(finished({ billable_ms: 600_000, credits_charged: 1 }));
  });

  it('says of a deleted job whether credits were still held (D36)', () => {
    const test = created({ key_mode: 'test' });
    given([test]).when(COMMANDS.delete).thenDecides(deleted(false));
    given([test, sourceReceived]).when(COMMANDS.delete).thenDecides(deleted(false));
    given(HISTORIES.queued).when(COMMANDS.delete).thenDecides(deleted(true));
    given(HISTORIES.finished).when(COMMANDS.delete).thenDecides(deleted(false));
  });
});

function finish(attempt: number): Extract<JobCommand, { type: 'finish' }> {
  return { type: 'finish', attempt, result: RESULT, billable_ms: 1500, speed_factor: 1, expires_at: FINISHED_EXPIRES_AT };
}

function everything(expected: Expected): Record<CommandName, Expected> {
  return {
    create: expected, 'start parts': expected, 'complete parts': expected, 'discard parts': expected, 'receive the source': expected, 'start attempt 1': expected, 'start attempt 2': expected, 'start attempt 3': expected,
    'hand back attempt 1': expected, 'hand back attempt 2': expected, 'say that attempt 1 is at 30 percent': expected, 'say that attempt 1 is at 60 percent': expected, 'finish attempt 1': expected, 'finish attempt 2': expected, 'fail attempt 1': expected, 'fail attempt 2': expected,
    'fail before any attempt': expected, cancel: expected, 'expire at last': expected, 'expire at once': expected, delete: expected, abandon: expected,
  };
}

function describeExpected(expected: Expected): string {
  if (expected === null) return 'does nothing';
  return typeof expected === 'string' ? `is refused as ${expected}` : `appends ${expected.type}`;
}
