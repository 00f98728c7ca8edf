import { z } from 'zod';
import { MESSAGE_OF_CAUSE } from '../../../shared/domain/job-error.ts';
import { JOB_STATUSES } from '../../../shared/domain/job-state.ts';
import { jobErrorCode } from '../../../shared/events/job.ts';
import { keyMode, scope } from '../../../shared/events/fields.ts';

/** Shapes of answers. They describe and are checked against in tests; clients must tolerate unknown fields (§9). */

/** One of our ids. */
export const uuid = (description: string) => z.uuid().describe(description);
/** ISO 8601, UTC, milliseconds. */
export const timestamp = (description: string) => z.iso.datetime({ precision: 3 }).describe(description);

export const jobStatus = z.enum(JOB_STATUSES).meta({
  id: 'JobStatus',
  description:
    '`waiting`: the file has not arrived, or is being fetched. `queued`: accepted. `processing`: being converted. `finished`: the result can be downloaded. `error`: failed, nothing is charged. `cancelled`. `expired`: the result was removed, or the file never came.',
});

const uploadResult = z.object({ uploadUrl: z.url().describe('Takes one PUT of the raw file, without an API key. Only in the answer of the creation.') }).meta({ id: 'UploadResult' });
const exportResult = z
  .object({ url: z.url().describe('Download link, without an API key.'), urlExpiresAt: timestamp('Until when it works; the same as `expires_at`.') })
  .meta({ id: 'ExportResult' });

const taskShape = z
  .object({
    name: z.string().describe('Name that the client chose.'),
    operation: z.enum(['import/upload', 'import/url', 'convert', 'export/url']),
    status: jobStatus.describe('Follows the job: its import is done when the job is `queued`, its conversion when it is `finished`; tasks that were not done when the job ended take its last status.'),
    credits: z.int().min(0).describe('Credits of this task: on the convert task the charge, once there is one.'),
    progress: z.int().min(0).max(99).optional().describe('How far the conversion is, in percent; on the convert task while it is `processing`. It begins at 0, moves at most every few seconds, stays at 0 for conversions that are over in seconds or cannot tell, and begins anew when another attempt takes over. `wait` answers a change of status alone.'),
    result: z.union([uploadResult, exportResult]).optional(),
    ignored_options: z.array(z.string()).optional().describe('Options that the target format does not know, or that have no effect on such a source.'),
  })
  .meta({ id: 'Task' });

/** What clients may branch on, with what people read of it. */
const CAUSES = Object.entries(MESSAGE_OF_CAUSE).map(([cause, message]) => `- \`${cause}\`: ${message}`).join('\n');

const jobFailure = z
  .object({ code: jobErrorCode, message: z.string().describe('For people; it may change.'), details: z.record(z.string(), z.unknown()).optional() })
  .meta({
    id: 'JobError',
    description: `Why a job failed. \`details.reason\` and \`details.cause\` say more; \`url_import_failed\` has one of the reasons \`blocked_address\`, \`not_https\`, \`invalid_url\`, \`timeout\`, \`too_many_redirects\`, \`http_status\`, \`network\`. A failed job is never charged. What a failed conversion has as its cause, to which releases may add:\n\n${CAUSES}`,
  });

/** A job that has finished; the links are shortened. */
const JOB_EXAMPLE = {
  id: '0190a6c1-7d4b-7c6e-9b1f-2f1de5a0c7d3',
  status: 'finished',
  mode: 'single',
  tag: 'invoice-2041',
  testMode: false,
  test_mode: false,
  credits_estimated: 1,
  credits_used: 1,
  tasks: [
    { name: 'my-file', operation: 'import/upload', status: 'finished', credits: 0 },
    { name: 'my-conversion', operation: 'convert', status: 'finished', credits: 1 },
    {
      name: 'my-result',
      operation: 'export/url',
      status: 'finished',
      credits: 0,
      result: { url: 'https://files.example.com/result/0190a6c1?signature=3fd2', urlExpiresAt: '2026-11-22T09:30:05.120Z' },
    },
  ],
  createdAt: '2026-11-21T09:30:00.000Z',
  created_at: '2026-11-21T09:30:00.000Z',
  expires_at: '2026-11-22T09:30:05.120Z',
  api_key_id: '0190a6c0-3b2f-7a51-b0c4-9be10d6a4f18',
};

export const jobShape = z
  .object({
    id: uuid('Job identifier.'),
    status: jobStatus,
    mode: z.literal('single'),
    tag: z.string().optional().describe('As given at creation; absent when none was.'),
    testMode: z.boolean().describe('Same value as `test_mode`.'),
    test_mode: z.boolean().describe('True when a test key created the job.'),
    credits_estimated: z.int().min(0).describe('Credits held; the job is never charged above it. A test job holds none.'),
    credits_used: z.int().min(0).optional().describe('The final charge, which stays after the result has expired; absent before the end, 0 for a job that did not finish. At most `credits_estimated`; before that `max(1, minutes × weight)`, with the time of the successful conversion rounded up to whole minutes.'),
    tasks: z.array(taskShape).length(3).optional().describe('Import, convert, export, in this order. In lists only with `include=tasks`.'),
    createdAt: timestamp('Same value as `created_at`.'),
    created_at: timestamp('When the job was created.'),
    expires_at: timestamp('When the result is removed: provisional until the job has finished, then fixed.'),
    api_key_id: uuid('Key that created the job.'),
    error: jobFailure.optional().describe('Present when the status is `error`.'),
  })
  .meta({ id: 'Job', examples: [JOB_EXAMPLE] });

export const jobListShape = z
  .object({ data: z.array(jobShape), page: z.int().min(1), per_page: z.int().min(1).max(100), total: z.int().min(0).describe('Jobs on all pages.') })
  .meta({ id: 'JobList' });

export const multipartShape = z
  .object({
    upload_id: uuid('Names this upload.'),
    part_size: z.int().min(1).describe('Bytes of every part but the last, which has the rest.'),
    parts_expected: z.int().min(1).describe('Number of parts.'),
  })
  .meta({ id: 'MultipartUpload' });

export const partUrlsShape = z
  .object({
    parts: z.array(
      z
        .object({
          part_number: z.int().min(1),
          url: z.url().describe('Takes one PUT of the raw bytes of the part, without an API key.'),
          expires_at: timestamp('Until when it works; it may be requested again.'),
        })
        .meta({ id: 'PartUrl' }),
    ),
  })
  .meta({ id: 'PartUrlList' });

export const assembledShape = z.object({ size_bytes: z.int().min(1).describe('Size of the assembled file.') }).meta({ id: 'AssembledFile' });

export const callerShape = z
  .object({
    organization_id: uuid('Organization of the key.'),
    mode: keyMode.describe('Mode of the key.'),
    scopes: z.array(scope),
    credits: z.object({ balance: z.int().describe('Credits that can be spent now: granted, less charged, less held.') }),
  })
  .meta({
    id: 'Caller',
    examples: [{ organization_id: '0190a6c0-11aa-7c3e-8d00-5b1f0a9c7e21', mode: 'live', scopes: ['job.read', 'job.write'], credits: { balance: 996 } }],
  });

export const operationsShape = z
  .object({
    data: z.array(
      z
        .object({
          input_format: z.string(),
          output_format: z.string(),
          credits_estimated: z.int().min(1).describe('Credits held for such a job; it is never charged above it.'),
          weight: z.int().min(1).describe('Factor of the price of a conversion-minute: 4 from PDF to an office format, 2 from video to video and for iWork, else 1; the highest counts.'),
          best_effort: z.boolean().describe('True where no faithful result is promised: what the formats share comes over, and layout, formulas or effects may be lost. From PDF, headings, paragraphs, lists, tables and columns are recognised by how they look, and written as such; pages of pictures alone have no text and fail. Look at the result before it replaces the source.'),
        })
        .meta({ id: 'Operation', examples: [{ input_format: 'jpg', output_format: 'webp', credits_estimated: 1, weight: 1, best_effort: false }] }),
    ),
    options: z.record(z.string(), z.record(z.string(), z.unknown())).describe('JSON Schema (draft 2020-12) of the `options` of a convert task, by `output_format`; `x-inputs` on a property names the only sources for which it has an effect.'),
  })
  .meta({ id: 'OperationList' });

export const healthShape = z.object({ status: z.literal('ok') }).meta({ id: 'Health' });

export const readinessShape = z
  .object({ status: z.enum(['ready', 'not_ready']), dependencies: z.record(z.string(), z.enum(['ok', 'away'])).describe('State of each dependency, by name.') })
  .meta({ id: 'Readiness' });
