import { z } from 'zod';
import { HEADERS_MAX } from '../../../shared/egress/header-rules.ts';

/** Longest tag and task name, counted in code points (§8, D6). */
const TEXT_CODE_POINTS_MAX = 255;

const text = (description: string) => z.string({ error: 'must be a string' }).min(1, { error: 'must not be empty' }).describe(description);

/** Text of at most 255 characters, none of them counted twice. */
export const shortText = z
  .string({ error: 'must be a string' })
  .refine((value) => Array.from(value).length <= TEXT_CODE_POINTS_MAX, { error: `must have at most ${TEXT_CODE_POINTS_MAX} characters` })
  .meta({ maxLength: TEXT_CODE_POINTS_MAX });

const inputFormat = text('Format of the file, in any case and by any usual name (`jpeg` is `jpg`).');

/** The client uploads the file by one PUT to `tasks[0].result.uploadUrl` of the answer. */
const importUploadTask = z.object({ operation: z.literal('import/upload') }).meta({ id: 'ImportUploadTask', description: 'The file is uploaded by one PUT to `tasks[0].result.uploadUrl` of the answer.' });

/** The service fetches the file. */
const importUrlTask = z
  .object({
    operation: z.literal('import/url'),
    url: text('Address of the file: `https://`, at most 2048 characters, without credentials, of a public host. Otherwise the request is refused with `url_import_failed`. Up to 3 redirects are followed, under the same rules.').meta({ maxLength: 2048 }),
    // Checked by `findHeaderProblems`: a record would pass over a header that is called `__proto__`.
    headers: z
      .custom<Readonly<Record<string, unknown>>>(isObject, { error: 'must be an object of strings' })
      .optional()
      .meta({
        type: 'object',
        additionalProperties: { type: 'string', maxLength: 8192 },
        maxProperties: HEADERS_MAX,
        description: `Headers sent to the remote host, at most ${HEADERS_MAX}: visible ASCII, none that rules the connection (such as \`Host\`, \`Connection\`, \`Proxy-*\`). They are kept encrypted until the file is fetched, and dropped when the host redirects to a different origin.`,
      }),
    input_format: inputFormat.optional(),
  })
  .meta({ id: 'ImportUrlTask', description: 'The service fetches the file. The job is `waiting` meanwhile, and this task `processing`. A fetch that fails ends the job with `url_import_failed` and `details.reason`, or `file_too_large`. With a test key the URL is checked and nothing is fetched.' });

/** What is converted into what. */
const convertTask = z
  .object({
    operation: z.literal('convert'),
    input: text('Name of the import task.'),
    input_format: inputFormat.optional().describe('Format of the file. Required with `import/upload`; with `import/url` it may stand there, or be the extension of the URL.'),
    output_format: text('Format of the result.'),
    options: z
      .custom<Readonly<Record<string, unknown>>>(isObject, { error: 'must be an object' })
      .optional()
      .meta({ type: 'object', additionalProperties: true, description: 'Options of the target format, as `GET /operations` lists them. An unknown one has no effect and is named in `ignored_options` of the task.' }),
  })
  .meta({ id: 'ConvertTask', description: 'What is converted into what.' });

/** Makes the result downloadable. */
const exportUrlTask = z
  .object({ operation: z.literal('export/url'), input: text('Name of the convert task.') })
  .meta({ id: 'ExportUrlTask', description: 'The result is downloaded from `result.url` of this task.' });

const OPERATIONS = ['import/upload', 'import/url', 'convert', 'export/url'] as const;

/** One task of a create request (§2.3). Fields that no operation has are ignored (D22). */
export const taskDefinition = z
  .discriminatedUnion('operation', [importUploadTask, importUrlTask, convertTask, exportUrlTask], {
    error: (issue) => (issue.code === 'invalid_union' ? `must be one of ${OPERATIONS.join(', ')}` : 'must be an object'),
  })
  .meta({ id: 'TaskDefinition' });
export type TaskDefinition = z.infer<typeof taskDefinition>;

/**
 * The body of POST /jobs (§4.3). The tasks are checked one by one by `validateTasks`, because a record would pass over
 * a task that is called `__proto__` (D13).
 */
export const createJobBody = z
  .object({
    tasks: z.record(z.string(), taskDefinition).describe('Exactly three tasks under names of your choice: one import, one `convert`, one `export/url`. Each but the first names the one before it in `input`.'),
    tag: shortText.optional().describe('Text of your choice, by which `GET /jobs` can be filtered. From a test key, a tag that begins with `test:fail=` or `test:delay=` makes the job fail or take a while (see "Test mode" above).'),
  })
  .meta({
    id: 'CreateJobRequest',
    examples: [
      {
        tasks: {
          'my-file': { operation: 'import/upload' },
          'my-conversion': { operation: 'convert', input: 'my-file', input_format: 'jpg', output_format: 'webp', options: { quality: 80 } },
          'my-result': { operation: 'export/url', input: 'my-conversion' },
        },
        tag: 'invoice-2041',
      },
    ],
  });

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
