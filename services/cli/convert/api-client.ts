import { z } from 'zod';
import { CodedError } from '../../../shared/errors/errors.ts';

/** One request to the API may take so long, in ms; a long-poll holds it for 25 s. */
const REQUEST_MS_MAX = 40_000;
/** An upload or a download may take so long, in ms. */
const TRANSFER_MS_MAX = 3_600_000;

const job = z.object({
  id: z.string(),
  status: z.enum(['waiting', 'queued', 'processing', 'finished', 'error', 'cancelled', 'expired']),
  credits_used: z.number().optional(),
  tasks: z.array(z.object({ progress: z.number().optional(), result: z.object({ uploadUrl: z.string().optional(), url: z.string().optional() }).optional(), ignored_options: z.array(z.string()).optional() })),
  error: z.object({ message: z.string() }).optional(),
});
/** What the command needs to know of a job. */
export type ClientJob = z.infer<typeof job>;

const operations = z.object({ options: z.record(z.string(), z.object({ properties: z.record(z.string(), z.object({ type: z.unknown() })).optional() })) });

const failure = z.object({ error: z.object({ message: z.string(), details: z.object({ issues: z.array(z.object({ path: z.string(), message: z.string() })).optional() }).optional() }) });

/** The service refused, with the message it gave. */
export class ApiError extends CodedError {
  readonly code = 'api';
}

/** Calls the public API as any client would, with one key. */
export class ApiClient {
  readonly #baseUrl: string;
  readonly #key: string;
  constructor(baseUrl: string, key: string) {
    this.#baseUrl = baseUrl;
    this.#key = key;
  }

  async createJob(tasks: Readonly<Record<string, unknown>>): Promise<ClientJob> {
    return job.parse(await this.#call('POST', '/v1/jobs', { tasks }));
  }

  /** The job as soon as its status changes, or after `waitSeconds`. */
  async waitForJob(id: string, waitSeconds: number): Promise<ClientJob> {
    return job.parse(await this.#call('GET', `/v1/jobs/${id}?wait=${waitSeconds}`));
  }

  /** Names of the options of an output format that take text; none when the service does not know the format. */
  async textOptions(format: string): Promise<ReadonlySet<string>> {
    const { options } = operations.parse(await this.#call('GET', '/v1/operations'));
    return new Set(Object.entries(options[format]?.properties ?? {}).flatMap(([name, { type }]) => (type === 'string' ? [name] : [])));
  }

  async #call(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await send(this.#baseUrl + path, {
      method,
      headers: { Authorization: `Bearer ${this.#key}`, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(REQUEST_MS_MAX),
    });
    await refuse(response);
    return await response.json();
  }
}

/** Sends the file to its upload link; its length must be known beforehand. */
export async function upload(url: string, body: Blob): Promise<void> {
  await refuse(await send(url, { method: 'PUT', body, signal: AbortSignal.timeout(TRANSFER_MS_MAX) }));
}

/** Opens the result behind its download link. */
export async function download(url: string): Promise<ReadableStream<Uint8Array>> {
  const response = await send(url, { signal: AbortSignal.timeout(TRANSFER_MS_MAX) });
  await refuse(response);
  if (!response.body) throw new ApiError('the service answered without a file');
  return response.body;
}

/** `fetch` alone says "fetch failed", and not where. */
async function send(url: string, request: RequestInit): Promise<Response> {
  try {
    return await fetch(url, request);
  } catch (cause) {
    throw new ApiError(`${URL.canParse(url) ? new URL(url).origin : url} does not answer`, { cause });
  }
}

async function refuse(response: Response): Promise<void> {
  if (response.ok) return;
  const parsed = failure.safeParse(await response.json().catch(() => undefined));
  if (!parsed.success) throw new ApiError(`the service answered ${response.status}`);
  const { message, details } = parsed.data.error;
  const issues = details?.issues?.map((issue) => `${issue.path}: ${issue.message}`) ?? [];
  // The message of a single issue is that issue.
  throw new ApiError([...new Set([message, ...issues])].join('\n'));
}
