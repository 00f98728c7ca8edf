import { REHEARSED_FAILURES, TEST_DELAY_MS_MAX } from '../../../shared/domain/test-triggers.ts';

/** What a client must know of test keys (§5.3, D65); `docs/test-mode.md` tells it at length. */
export const TEST_MODE = [
  '## Test mode',
  'A test key (`svc_test_`) runs the same endpoints, states and limits, and never holds or charges credits: `credits_estimated` is the normal estimate, `credits_used` is 0. The file must be uploaded, whatever is in it; an address to import from is checked as always and never connected to. The result is a small fixed file of the output format, the same one every time. Test jobs never wait for live ones, nor live ones for them.',
  `Failures are rehearsed by the \`tag\` of POST /jobs: \`test:fail=<code>[/reason]\` and \`test:delay=<ms>\` (0 to ${TEST_DELAY_MS_MAX}, the time for which the job stays \`processing\`), either or both, separated by a space. Codes that refuse a request are answered at once and nothing is created; the others end the job where the real failure would. A tag of a test key that begins with one of the two and says anything else is answered 400; for a live key a tag is only a tag.`,
  `\`test:fail\` may be ${REHEARSED_FAILURES.map((name) => `\`${name}\``).join(', ')}.`,
].join('\n\n');
