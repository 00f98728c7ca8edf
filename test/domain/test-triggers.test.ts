import { expect } from 'chai';
import { NO_TRIGGERS, parseTestTriggers, REHEARSED_FAILURES, TEST_DELAY_MS_MAX, type TestTriggers } from '../../shared/domain/test-triggers.ts';
import { jobFailedV1 } from '../../shared/events/job.ts';

function triggersOf(tag: string | undefined): TestTriggers {
  const parsed = parseTestTriggers(tag);
  if ('problem' in parsed) throw new Error(parsed.problem);
  return parsed.triggers;
}

describe('the tag of a test job (§5.3, D65)', () => {
  it('asks for nothing unless it begins with a trigger', () => {
    for (const tag of [undefined, '', 'holiday', 'testing', 'TEST:fail=internal', 'test:', 'test:slow', 'test:fail', 'test:delay', 'test:order-17', ' test:delay=5', 'order 7 test:delay=5']) expect(triggersOf(tag), tag).to.equal(NO_TRIGGERS);
  });

  it('names one failure, a time, or both, in any order', () => {
    expect(triggersOf('test:delay=250')).to.deep.equal({ delayMs: 250 });
    expect(triggersOf('test:fail=insufficient_credits')).to.deep.equal({ delayMs: 0, refusal: 'insufficient_credits' });
    const timeout = { delayMs: 5, conversionError: { code: 'internal', reason: 'timeout', cause: 'timeout' } };
    for (const tag of ['test:fail=internal/timeout test:delay=5', 'test:delay=5  test:fail=internal/timeout ']) expect(triggersOf(tag)).to.deep.equal(timeout);
    expect(triggersOf(`test:delay=${TEST_DELAY_MS_MAX}`).delayMs).to.equal(TEST_DELAY_MS_MAX);
  });

  it('says what is wrong with anything else', () => {
    for (const tag of ['test:fail=', 'test:fail=unauthorized', 'test:fail=url_import_failed', 'test:fail=internal/', 'test:fail=internal/x', 'test:fail=__proto__', 'test:fail=file_too_large x', 'test:fail=internal test:slow', 'test:delay=', 'test:delay=-1', 'test:delay=1.5', 'test:delay=1e3', `test:delay=${TEST_DELAY_MS_MAX + 1}`, 'test:delay=1=2', 'test:delay=1 test:delay=2', 'test:fail=internal;test:delay=1']) {
      const parsed = parseTestTriggers(tag);
      expect('problem' in parsed ? parsed.problem : parsed, tag).to.be.a('string').that.includes('test:');
    }
  });

  it('leads to exactly one failure, of the kind that its code has (§7)', () => {
    for (const name of REHEARSED_FAILURES) {
      const { refusal, importError, conversionError } = triggersOf(`test:fail=${name}`);
      expect([refusal, importError, conversionError].filter((found) => found !== undefined), name).to.have.length(1);
      const error = importError ?? conversionError;
      if (error) expect(jobFailedV1.parse({ error }).error, name).to.deep.equal(error);
      if (error) expect(error.reason === undefined ? error.code : `${error.code}/${error.reason}`).to.equal(name);
      else expect(refusal).to.equal(name);
    }
  });
});
