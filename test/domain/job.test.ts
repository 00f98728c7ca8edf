import { expect } from 'chai';
import { fold } from '../../shared/domain/decider.ts';
import { isExhausted, jobDecider, type JobCommand, type JobRefusal } from '../../shared/domain/job.ts';
import type { JobEvent } from '../../shared/events/registry.ts';
import { specify } from '../support/decider-spec.ts';
import {
  cancelled, conversionInterrupted, conversionStarted, created, CREATED_AT, DAMAGED, deleted, expired, failed, finished, FINISHED_EXPIRES_AT, HISTORIES, RESULT, SOURCE,
  sourceReceived, UPLOAD_DEADLINE_AT, type History,
} from '../support/job-events.ts';

const given = specify(jobDecider);

/** Later than every deadline of the histories. */
const LATE = '2026-02-01T00:00:00.000Z';

const COMMANDS = {
  create: { type: 'create', data: created().data },
  'receive the source': { type: 'receive_source', source: SOURCE },
  'start attempt 1': { type: 'start_conversion', attempt: 1, engine: 'image', engine_version: '1.2.3' },
  'start attempt 2': { type: 'start_conversion', attempt: 2, engine: 'image', engine_version: '1.2.3' },
  'start attempt 3': { type: 'start_conversion', attempt: 3, engine: 'image', engine_version: '1.2.3' },
  'hand back attempt 1': { type: 'interrupt_conversion', attempt: 1 },
  'hand back attempt 2': { type: 'interrupt_conversion', attempt: 2 },
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
  'receive the source': 'not_waiting',
  'start attempt 1': 'not_queued',
  'start attempt 2': 'not_queued',
  'start attempt 3': 'not_queued',
  'hand back attempt 1': 'attempt_fenced',
  'hand back attempt 2': 'attempt_fenced',
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
  'receive the source': sourceReceived,
  'fail before any attempt': failed(),
  cancel: cancelled,
  'expire at last': expired('never_uploaded'),
  'expire at once': 'not_due',
  delete: deleted(true),
};

const PROCESSING: Readonly<Record<CommandName, Expected>> = {
  ...OVER,
  'start attempt 1': 'attempt_fenced',
  'start attempt 2': conversionStarted(2),
  'start attempt 3': 'attempt_fenced',
  'hand back attempt 1': conversionInterrupted(1),
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
  'waiting for a URL': { ...WAITING, 'expire at last': null, 'expire at once': null },
  queued: {
    ...OVER,
    'start attempt 1': conversionStarted(1),
    'start attempt 2': 'attempt_fenced',
    'start attempt 3': 'attempt_fenced',
    'fail before any attempt': failed(),
    cancel: cancelled,
    'expire at last': null,
    'expire at once': null,
    delete: deleted(true),
  },
  processing: PROCESSING,
  'processing in a second attempt': {
    ...PROCESSING,
    'start attempt 2': 'attempt_fenced',
    'start attempt 3': conversionStarted(3),
    'hand back attempt 1': 'attempt_fenced',
    'hand back attempt 2': conversionInterrupted(2),
    'finish attempt 1': 'attempt_fenced',
    'finish attempt 2': finished({ attempt: 2 }),
    'fail attempt 1': 'attempt_fenced',
    'fail attempt 2': failed({ attempt: 2 }),
  },
  'processing by nobody': { ...PROCESSING, 'hand back attempt 1': null, 'finish attempt 1': 'attempt_fenced' },
  finished: { ...ENDED, 'expire at last': expired('result_ttl'), 'expire at once': 'not_due' },
  'failed before the conversion': ENDED,
  'failed in the conversion': ENDED,
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
    create: expected, 'receive the source': expected, 'start attempt 1': expected, 'start attempt 2': expected, 'start attempt 3': expected,
    'hand back attempt 1': expected, 'hand back attempt 2': expected, 'finish attempt 1': expected, 'finish attempt 2': expected, 'fail attempt 1': expected, 'fail attempt 2': expected,
    'fail before any attempt': expected, cancel: expected, 'expire at last': expected, 'expire at once': expected, delete: expected, abandon: expected,
  };
}

function describeExpected(expected: Expected): string {
  if (expected === null) return 'does nothing';
  return typeof expected === 'string' ? `is refused as ${expected}` : `appends ${expected.type}`;
}
