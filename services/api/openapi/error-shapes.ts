import { z } from 'zod';
import { ERROR_STATUSES, type ErrorCode } from '../errors/api-error.ts';
import { jobStatus } from './schemas.ts';

const message = z.string().describe('For people; it may change.');
const requestId = z.uuid().describe('The same as in `X-Request-Id`.');
const EXAMPLE_REQUEST_ID = '0190a6c1-7d4b-4c6e-9b1f-2f1de5a0c7d3';

/** The envelope of every answer that is not 2xx (§7), for codes whose details add nothing. */
export const errorShape = z
  .object({
    error: z.object({
      code: z.enum(Object.keys(ERROR_STATUSES) as [ErrorCode, ...ErrorCode[]]).describe('Stable.'),
      message,
      details: z.record(z.string(), z.unknown()).optional().describe('Only when it adds something.'),
      request_id: requestId,
    }),
  })
  .meta({ id: 'Error', examples: [{ error: { code: 'not_found', message: 'There is no such job.', request_id: EXAMPLE_REQUEST_ID } }] });

const issue = z.object({ path: z.string().describe('Where the problem is, such as `tasks.convert-1.output_format`, `wait` or the name of a header.'), message: z.string() }).meta({ id: 'Issue' });
const whole = (description: string) => z.int().min(0).describe(description);
const reason = (values: readonly [string, ...string[]], description: string) => z.enum(values).describe(description);

/** `details` of each code that has some (§7), and an example of each. More may be added at any time (§9). */
const DETAILS: Partial<Record<ErrorCode, { readonly shape: z.ZodObject; readonly example: Readonly<Record<string, unknown>>; readonly isOptional?: boolean }>> = {
  forbidden_scope: { shape: z.object({ required_scope: z.string().describe('Scope that the key lacks.') }), example: { required_scope: 'job.write' } },
  validation_failed: {
    shape: z.object({
      issues: z.array(issue).optional().describe('Every problem of the request at once.'),
      reason: z.string().optional().describe('Tells cases of this code apart.'),
      field: z.literal('input_format').optional().describe('Field that is missing.'),
      status: jobStatus.optional().describe('Status of the job, where that stands in the way.'),
      max_bytes: whole('Longest body that is taken.').optional(),
    }),
    example: { issues: [{ path: 'wait', message: 'must be a whole number from 0 to 25' }] },
    isOptional: true,
  },
  insufficient_credits: {
    shape: z.object({ credits_required: whole('What the job would hold.'), credits_available: whole('What can be held.'), pricing_url: z.url() }),
    example: { credits_required: 4, credits_available: 1, pricing_url: 'https://convert.example.com/v1/operations' },
  },
  rate_limited: {
    shape: z.object({
      reason: reason(['key_rate_limited', 'ip_throttled', 'active_job_limit_reached'], 'Which limit was reached.'),
      limit: whole('The limit.'),
      reset: whole('When the minute ends, in Unix seconds; not with `active_job_limit_reached`.').optional(),
    }),
    example: { reason: 'key_rate_limited', limit: 120, reset: 1_795_282_380 },
  },
  idempotency_conflict: { shape: z.object({ retry_after: whole('Seconds after which to try again.').optional() }), example: { retry_after: 1 }, isOptional: true },
  unsupported_conversion: { shape: z.object({ input_format: z.string(), output_format: z.string() }), example: { input_format: 'jpg', output_format: 'mp3' } },
  file_too_large: { shape: z.object({ max_bytes: whole('Largest file that is taken.') }), example: { max_bytes: 1_073_741_824 } },
  url_import_failed: {
    shape: z.object({ reason: reason(['blocked_address', 'not_https', 'invalid_url', 'timeout', 'too_many_redirects', 'http_status', 'network'], 'Why the URL is not taken.') }),
    example: { reason: 'not_https' },
  },
  internal: {
    shape: z.object({ retryable: z.boolean().describe('Whether the same request may go well later.'), reason: z.string().optional().describe('What is away, such as `storage_unavailable` or `credit_service_unavailable`.') }),
    example: { retryable: true, reason: 'storage_unavailable' },
  },
};

const SHAPES = new Map<ErrorCode, z.ZodType>(Object.entries(DETAILS).map(([code, { shape, example, isOptional }]) => [code as ErrorCode, shapeWith(code, isOptional === true ? shape.optional() : shape, example)]));

/** What is answered with one of these codes. */
export function errorShapeOf(codes: readonly ErrorCode[]): z.ZodType {
  const [first = errorShape, ...rest] = new Set(codes.map((code) => SHAPES.get(code) ?? errorShape));
  return rest.length === 0 ? first : z.union([first, ...rest]);
}

function shapeWith(code: string, details: z.ZodType, example: Readonly<Record<string, unknown>>): z.ZodType {
  const name = code.replaceAll(/(?:^|_)(\w)/g, (_match, letter: string) => letter.toUpperCase());
  return z
    .object({ error: z.object({ code: z.literal(code), message, details, request_id: requestId }) })
    .meta({ id: `${name}Error`, examples: [{ error: { code, message: 'What went wrong, in a sentence.', details: example, request_id: EXAMPLE_REQUEST_ID } }] });
}
