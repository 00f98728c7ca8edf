import type { JobStatus } from '../../shared/domain/job-state.ts';
import type { JobView } from '../../shared/domain/job-view.ts';
import { sharedCheck, type OpenApiCheck } from './openapi-check.ts';

/** Far longer than any job of the tests takes, also on a slow machine; a wait for a job that ends neither way has failed. */
const JOB_LIMIT_MS = 50_000;

/** An answer with its body read: JSON where it is JSON, else bytes. */
export type Answer<Body = unknown> = { readonly status: number; readonly headers: Headers; readonly body: Body; readonly bytes: Buffer };

/** Body of an error answer (§7). */
export type ErrorBody = { readonly error: { readonly code: string; readonly message: string; readonly details?: Readonly<Record<string, unknown>>; readonly request_id: string } };

/** A request; `json` is sent as such, `body` as it is. */
export type Ask = { readonly json?: unknown; readonly body?: string | Uint8Array; readonly headers?: Readonly<Record<string, string>>; readonly signal?: AbortSignal };

/** Tasks of a job that converts an upload, under names that clients choose. */
export function tasksOf(inputFormat: string, outputFormat: string, options?: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return {
    'import-1': { operation: 'import/upload' },
    'convert-1': { operation: 'convert', input: 'import-1', input_format: inputFormat, output_format: outputFormat, ...(options ? { options } : {}) },
    'export-1': { operation: 'export/url', input: 'convert-1' },
  };
}

/** Talks to the service as a client would, and holds every answer against the OpenAPI document it serves. */
export class TestClient {
  readonly #baseUrl: string;
  readonly #secret: string | undefined;
  readonly #check: OpenApiCheck | undefined;

  /** `check` notes what it has seen; without one the answers are held against the document all the same. */
  constructor(baseUrl: string, secret?: string, check?: OpenApiCheck) {
    this.#baseUrl = baseUrl;
    this.#secret = secret;
    this.#check = check;
  }

  /** Sends a request to a path from the root of the server, or to a whole URL, which gets no key. */
  async send<Body = unknown>(method: string, target: string, ask: Ask = {}): Promise<Answer<Body>> {
    const isPath = target.startsWith('/');
    const url = isPath ? this.#baseUrl + target : target;
    const response = await fetch(url, {
      method,
      headers: {
        ...(isPath && this.#secret !== undefined ? { Authorization: `Bearer ${this.#secret}` } : {}),
        ...(ask.json === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...ask.headers,
      },
      ...(ask.json === undefined ? {} : { body: JSON.stringify(ask.json) }),
      ...(ask.body === undefined ? {} : { body: ask.body }),
      ...(ask.signal === undefined ? {} : { signal: ask.signal }),
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true && bytes.length > 0;
    const body: unknown = isJson ? JSON.parse(bytes.toString()) : bytes.length === 0 ? undefined : bytes;
    const { status, headers } = response;
    // A link may lead to an S3 store, which answers as it likes.
    if (method !== 'OPTIONS' && url.startsWith(this.#baseUrl)) {
      const check = this.#check ?? (await sharedCheck(this.#baseUrl));
      check?.check({ method, path: new URL(url).pathname, status, headers, body });
    }
    return { status, headers, body: body as Body, bytes };
  }

  /** Creates a job; the test fails on any other answer than 201. */
  async createJob(tasks: unknown, more: Readonly<Record<string, unknown>> = {}): Promise<JobView> {
    const answer = await this.send<JobView>('POST', '/v1/jobs', { json: { tasks, ...more } });
    if (answer.status !== 201) throw new Error(`a job was not created: ${answer.status} ${answer.bytes.toString()}`);
    return answer.body;
  }

  /** PUTs a file to the upload URL of a job that was just created. */
  upload(job: JobView, file: Uint8Array): Promise<Answer> {
    return this.send('PUT', uploadUrlOf(job), { body: file });
  }

  async readJob(jobId: string): Promise<JobView> {
    const answer = await this.send<JobView>('GET', `/v1/jobs/${jobId}`);
    if (answer.status !== 200) throw new Error(`a job cannot be read: ${answer.status} ${answer.bytes.toString()}`);
    return answer.body;
  }

  /** Waits until the job has one of these statuses; by short polls, because a long one passes over a status that was there when it began. */
  async waitForStatus(jobId: string, ...statuses: readonly JobStatus[]): Promise<JobView> {
    const end = performance.now() + JOB_LIMIT_MS;
    for (;;) {
      const answer = await this.send<JobView>('GET', `/v1/jobs/${jobId}?wait=1`);
      if (statuses.includes(answer.body.status)) return answer.body;
      if (performance.now() > end) throw new Error(`job ${jobId} is ${answer.body.status}, not ${statuses.join(' or ')}: ${JSON.stringify(answer.body.error)}`);
    }
  }

  /** Creates, uploads and waits for the end. */
  async convert(file: Uint8Array, tasks: unknown): Promise<JobView> {
    const job = await this.createJob(tasks);
    await this.upload(job, file);
    return this.waitForStatus(job.id, 'finished', 'error');
  }
}

/** The upload URL of a job that was just created. */
export function uploadUrlOf(job: JobView): string {
  const result = job.tasks?.[0]?.result;
  if (!result || !('uploadUrl' in result)) throw new Error('the job has no upload URL');
  return result.uploadUrl;
}

/** The download URL of a finished job. */
export function resultUrlOf(job: JobView): string {
  const result = job.tasks?.[2]?.result;
  if (!result || !('url' in result)) throw new Error(`the job has no result; it is ${job.status}`);
  return result.url;
}
