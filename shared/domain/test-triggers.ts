import type { EventData } from '../events/registry.ts';

type JobError = EventData<'job.failed'>['error'];

/** Longest `test:delay`, in ms: as long as a conversion may take by default, so that every client timeout can be met. */
export const TEST_DELAY_MS_MAX = 300_000;

/** A tag whose first word begins so is read as triggers when a test key sent it; any other is only a tag (§2.1). */
const TRIGGERS = ['test:fail=', 'test:delay='];
const DIGITS = /^\d{1,9}$/;

/** Refusals of POST /jobs that a test key can ask for; each is answered as the real one is (§7). */
const REFUSALS = [
  'insufficient_credits',
  'unsupported_conversion',
  'idempotency_conflict',
  'rate_limited/active_job_limit_reached',
  'rate_limited/key_rate_limited',
  'internal',
  'internal/credit_service_unavailable',
  'internal/storage_unavailable',
] as const;
export type RehearsedRefusal = (typeof REFUSALS)[number];

const FETCH_REASONS = ['blocked_address', 'not_https', 'invalid_url', 'timeout', 'too_many_redirects', 'http_status', 'network'] as const;

/** Errors of a job that the conversion meets. */
const CONVERSION_ERRORS: ReadonlyMap<string, JobError> = new Map([
  ['internal/system_error', { code: 'internal', reason: 'system_error' }],
  ['internal/timeout', { code: 'internal', reason: 'timeout', cause: 'timeout' }],
]);

/** Errors of a job that its import meets: those of a URL only there, a file that is too large in either. */
const IMPORT_ERRORS: ReadonlyMap<string, JobError> = new Map([
  ['file_too_large', { code: 'file_too_large' }],
  ...FETCH_REASONS.map((reason): [string, JobError] => [`url_import_failed/${reason}`, { code: 'url_import_failed', reason }]),
]);

/** Everything that `test:fail=` may name. */
export const REHEARSED_FAILURES: readonly string[] = [...REFUSALS, ...IMPORT_ERRORS.keys(), ...CONVERSION_ERRORS.keys()];

/** What the tag of a test job asks for (D65); at most one of the three failures. */
export type TestTriggers = {
  /** How long the job stays `processing`. */
  readonly delayMs: number;
  /** POST /jobs is refused, nothing is created. */
  readonly refusal?: RehearsedRefusal;
  /** The import fails, once there is something to import. */
  readonly importError?: JobError;
  /** The conversion fails, after `delayMs`. */
  readonly conversionError?: JobError;
};

/** A test job that simply succeeds. */
export const NO_TRIGGERS: TestTriggers = { delayMs: 0 };

/** The triggers of a tag, or what is wrong with them, for a client to read. */
export type ParsedTriggers = { readonly triggers: TestTriggers } | { readonly problem: string };

/**
 * Reads the tag of a test job: `test:fail=<code>[/reason]` and `test:delay=<ms>`, each at most once, separated by
 * spaces. A tag that begins otherwise is only a tag (D65).
 */
export function parseTestTriggers(tag: string | undefined): ParsedTriggers {
  if (tag === undefined || !TRIGGERS.some((trigger) => tag.startsWith(trigger))) return { triggers: NO_TRIGGERS };
  const words = tag.split(' ').filter((word) => word !== '');
  const triggers: { -readonly [Part in keyof TestTriggers]: TestTriggers[Part] } = { ...NO_TRIGGERS };
  const seen = new Set<string>();
  for (const word of words) {
    const [name = '', ...rest] = word.split('=');
    if (seen.has(name)) return { problem: `${name} must be given only once` };
    seen.add(name);
    const read = readTrigger(name, rest.join('='));
    if ('problem' in read) return read;
    Object.assign(triggers, read);
  }
  return { triggers };
}

function readTrigger(name: string, value: string): Partial<TestTriggers> | { readonly problem: string } {
  switch (name) {
    case 'test:delay':
      if (!DIGITS.test(value) || Number(value) > TEST_DELAY_MS_MAX) return { problem: `test:delay must be a whole number of milliseconds from 0 to ${TEST_DELAY_MS_MAX}` };
      return { delayMs: Number(value) };
    case 'test:fail':
      return readFailure(value);
    default:
      return { problem: 'a tag of a test key that begins with a trigger must be made of test:fail=<code>[/reason] and test:delay=<ms>, separated by a space' };
  }
}

function readFailure(value: string): Partial<TestTriggers> | { readonly problem: string } {
  const refusal = REFUSALS.find((known) => known === value);
  if (refusal !== undefined) return { refusal };
  const importError = IMPORT_ERRORS.get(value);
  if (importError !== undefined) return { importError };
  const conversionError = CONVERSION_ERRORS.get(value);
  if (conversionError !== undefined) return { conversionError };
  return { problem: `test:fail must be one of ${REHEARSED_FAILURES.join(', ')}` };
}
