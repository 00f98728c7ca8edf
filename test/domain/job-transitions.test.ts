import { expect } from 'chai';
import fc from 'fast-check';
import { fold } from '../../shared/domain/decider.ts';
import { jobDecider, type JobCommand } from '../../shared/domain/job.ts';
import { MULTIPART_STARTS_MAX } from '../../shared/domain/multipart.ts';
import { TERMINAL_STATUSES, type JobState, type JobStatus } from '../../shared/domain/job-state.ts';
import { DomainError } from '../../shared/errors/errors.ts';
import type { JobEvent } from '../../shared/events/registry.ts';
import { ASSEMBLED, created, CREATED_AT, DAMAGED, FINISHED_EXPIRES_AT, PLAN, RESULT, SOURCE, UPLOAD_DEADLINE_AT } from '../support/job-events.ts';

type Situation = JobStatus | 'none' | 'deleted';

/** The table of §3, read as "from → to". A second attempt of a conversion stays in `processing` (D37), an upload in parts in `waiting`. */
const TRANSITIONS: Readonly<Record<Situation, readonly Situation[]>> = {
  none: ['waiting', 'deleted'],
  waiting: ['waiting', 'queued', 'error', 'cancelled', 'expired', 'deleted'],
  queued: ['processing', 'error', 'cancelled', 'deleted'],
  processing: ['processing', 'finished', 'error'],
  finished: ['expired', 'deleted'],
  error: ['deleted'],
  cancelled: ['deleted'],
  expired: ['deleted'],
  deleted: [],
};

const RUNS = { numRuns: 2000 };

const attempt = fc.integer({ min: 1, max: 4 });
const command: fc.Arbitrary<JobCommand> = fc.oneof(
  fc.record({ importBy: fc.constantFrom('upload' as const, 'url' as const), keyMode: fc.constantFrom('live' as const, 'test' as const), credits: fc.integer({ min: 1, max: 20 }) }).map(({ importBy, keyMode, credits }): JobCommand => ({
    type: 'create',
    data: created({ import: importBy, key_mode: keyMode, weight: credits, credits_estimated: credits }).data,
  })),
  fc.constantFrom(SOURCE.etag, ASSEMBLED.etag).map((etag): JobCommand => ({ type: 'receive_source', source: { ...SOURCE, etag } })),
  fc.constant<JobCommand>({ type: 'start_multipart', plan: PLAN }),
  fc.constantFrom(ASSEMBLED.etag, `${'f'.repeat(32)}-2`).map((etag): JobCommand => ({ type: 'complete_multipart', file: { ...ASSEMBLED, etag } })),
  fc.constant<JobCommand>({ type: 'abort_multipart' }),
  attempt.map((number): JobCommand => ({ type: 'start_conversion', attempt: number, engine: 'image', engine_version: '1.2.3' })),
  fc.tuple(attempt, fc.integer({ min: 0, max: 10_000_000 })).map(([number, billable_ms]): JobCommand => ({ type: 'finish', attempt: number, result: RESULT, billable_ms, speed_factor: 1, expires_at: FINISHED_EXPIRES_AT })),
  attempt.map((number): JobCommand => ({ type: 'interrupt_conversion', attempt: number })),
  fc.tuple(attempt, fc.integer({ min: 1, max: 99 })).map(([number, percent]): JobCommand => ({ type: 'report_progress', attempt: number, percent })),
  attempt.map((number): JobCommand => ({ type: 'fail', attempt: number, error: DAMAGED })),
  fc.constant<JobCommand>({ type: 'fail', error: DAMAGED }),
  fc.constant<JobCommand>({ type: 'cancel' }),
  fc.constantFrom(CREATED_AT, UPLOAD_DEADLINE_AT, FINISHED_EXPIRES_AT).map((now): JobCommand => ({ type: 'expire', now })),
  fc.constant<JobCommand>({ type: 'delete' }),
  fc.constant<JobCommand>({ type: 'abandon' }),
);
/** What a job goes through when nothing disturbs it; random commands alone would rarely get so far. */
const undisturbed: readonly JobCommand[] = [
  { type: 'create', data: created().data },
  { type: 'receive_source', source: SOURCE },
  { type: 'start_conversion', attempt: 1, engine: 'image', engine_version: '1.2.3' },
  { type: 'finish', attempt: 1, result: RESULT, billable_ms: 1500, speed_factor: 1, expires_at: FINISHED_EXPIRES_AT },
];
const commands = fc.tuple(fc.integer({ min: 0, max: 4 }), fc.array(command, { maxLength: 30 })).map(([steps, rest]) => [...undisturbed.slice(0, steps), ...rest]);

describe('no sequence of commands', () => {
  it('leaves the transitions of §3', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(commands, (sequence) => {
        for (const { before, after } of run(sequence)) {
          expect(TRANSITIONS[before], `${before} → ${after}`).to.include(after);
          seen.add(`${before} → ${after}`);
        }
      }),
      RUNS,
    );
    const all = Object.entries(TRANSITIONS).flatMap(([from, targets]) => targets.map((to) => `${from} → ${to}`));
    expect([...seen].sort(), 'the sequences went through every transition').to.deep.equal(all.sort());
  });

  it('ends a job twice, or finishes it for another attempt than the last that was started', () => {
    fc.assert(
      fc.property(commands, (sequence) => {
        const events = run(sequence).map((step) => step.event);
        const ends = events.filter((event) => ['job.finished', 'job.failed', 'job.cancelled'].includes(event.type));
        expect(ends.length).to.be.at.most(1);
        const started = events.filter((event) => event.type === 'job.conversion_started').map((event) => event.data.attempt);
        expect(started).to.deep.equal(started.map((_, index) => index + 1));
        const finish = events.find((event) => event.type === 'job.finished');
        if (finish) expect(finish.data.attempt).to.equal(started.at(-1));
      }),
      RUNS,
    );
  });

  it('takes another source than the upload in parts that was completed (D46)', () => {
    fc.assert(
      fc.property(commands, (sequence) => {
        const events = run(sequence).map((step) => step.event);
        const completed = events.filter((event) => event.type === 'job.multipart_completed');
        expect(completed.length).to.be.at.most(1);
        const source = events.find((event) => event.type === 'job.source_received');
        if (source && completed[0]) expect(source.data.etag).to.equal(completed[0].data.etag);
        if (completed[0]) expect(events.some((event) => event.type === 'job.expired' && event.data.reason === 'never_uploaded')).to.equal(false);
        const open = events.reduce((count, event) => count + Number(event.type === 'job.multipart_started') - Number(event.type === 'job.multipart_aborted'), 0);
        expect(open).to.be.within(0, 1);
      }),
      RUNS,
    );
  });

  it('gives a job more than 45 events besides the attempts of its conversion, however long a client goes on (§4.4)', () => {
    // Created, 20 starts, each discarded or completed, its file, its end, its expiry, its deletion.
    const eventsMax = 1 + 2 * MULTIPART_STARTS_MAX + 4;
    let longest = 0;
    const insistent = fc.array(fc.oneof({ weight: 5, arbitrary: fc.constantFrom<JobCommand>({ type: 'start_multipart', plan: PLAN }, { type: 'abort_multipart' }) }, command), { minLength: 100, maxLength: 200 });
    fc.assert(
      fc.property(fc.tuple(insistent, commands), ([first, rest]) => {
        const create: JobCommand = { type: 'create', data: created().data };
        const forced = first.filter(({ type }) => type === 'start_multipart' || type === 'abort_multipart');
        for (const sequence of [[create, ...first, ...rest], [create, ...forced, ...undisturbed, ...first]]) {
          const events = run(sequence).filter(({ event }) => !event.type.startsWith('job.conversion_'));
          expect(events.length).to.be.at.most(eventsMax);
          longest = Math.max(longest, events.length);
        }
      }),
      { numRuns: 100 },
    );
    expect(longest, 'some client came to the bound').to.be.greaterThan(2 * MULTIPART_STARTS_MAX);
  });

  it('charges above the estimate, or a test job at all', () => {
    fc.assert(
      fc.property(commands, (sequence) => {
        const events = run(sequence).map((step) => step.event);
        const start = events.find((event) => event.type === 'job.created');
        const finish = events.find((event) => event.type === 'job.finished');
        if (!start || !finish) return;
        const { key_mode, credits_estimated } = start.data;
        if (key_mode === 'test') expect(finish.data.credits_charged).to.equal(0);
        else expect(finish.data.credits_charged).to.be.within(1, credits_estimated);
      }),
      RUNS,
    );
  });

  it('leaves a state that a fold of its events would not give', () => {
    fc.assert(
      fc.property(commands, (sequence) => {
        const steps = run(sequence);
        const refolded = fold(jobDecider, steps.map((step) => step.event));
        expect(situationOf(refolded)).to.equal(steps.at(-1)?.after ?? 'none');
        if (refolded.kind === 'live' && TERMINAL_STATUSES.has(refolded.status)) {
          expect(() => jobDecider.decide({ type: 'cancel' }, refolded)).to.throw(DomainError).with.property('code', 'already_terminal');
        }
      }),
      RUNS,
    );
  });
});

type Step = { readonly before: Situation; readonly after: Situation; readonly event: JobEvent };

/** Decides one command after the other; refused ones change nothing. */
function run(sequence: readonly JobCommand[]): Step[] {
  let state: JobState = jobDecider.initialState;
  const steps: Step[] = [];
  for (const next of sequence) {
    const event = decideOrRefuse(next, state);
    if (event === null) continue;
    const after = jobDecider.evolve(state, event);
    steps.push({ before: situationOf(state), after: situationOf(after), event });
    state = after;
  }
  return steps;
}

function decideOrRefuse(next: JobCommand, state: JobState): JobEvent | null {
  try {
    return jobDecider.decide(next, state);
  } catch (error) {
    if (error instanceof DomainError) return null;
    throw error;
  }
}

function situationOf(state: JobState): Situation {
  return state.kind === 'live' ? state.status : state.kind;
}
