import { openAsBlob } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { FormatName } from '../../shared/domain/catalogue/formats.ts';
import type { JobView } from '../../shared/domain/job-view.ts';
import { resultUrlOf, tasksOf, uploadUrlOf } from '../../test/support/client.ts';
import type { SoakFile } from './files.ts';

/** No conversion takes as long, with all that waits before it: a job that has not ended by then is stuck. */
const JOB_LIMIT_MS = 15 * 60_000;
/** A request that is told to wait is made again so often. */
const ATTEMPTS_MAX = 100;
/** A request that is told to wait, and not how long, is made again after so long, in ms. */
const PAUSE_MS = 1_000;
const REQUEST_LIMIT_MS = 60_000;

/** How one file ended. */
export interface Outcome {
  readonly path: string;
  readonly from: FormatName;
  readonly to: FormatName;
  readonly jobId: string | undefined;
  /** `finished`, or why not: the cause or code of the job's error, `refused …` by a request, `stuck`. */
  readonly end: string;
  /** From the end of the upload to the end of the job, as a client sees it, ms. */
  readonly tookMs: number;
  readonly resultBytes: number;
}

/** The service that is soaked, as any client sees it. */
export class SoakClient {
  readonly #baseUrl: string;
  readonly #key: string;
  /** `baseUrl` is without `/v1`. */
  constructor(baseUrl: string, key: string) {
    this.#baseUrl = baseUrl;
    this.#key = key;
  }

  /** All pairs that the service offers, as `from>to`. Throws Error when it does not answer. */
  async offers(): Promise<ReadonlySet<string>> {
    const { data } = (await (await this.#ask('/v1/operations')).json()) as { readonly data: readonly { readonly input_format: string; readonly output_format: string }[] };
    return new Set(data.map((pair) => `${pair.input_format}>${pair.output_format}`));
  }

  /** One file from the request to the last byte of its result; never throws. */
  async convert({ path, format }: SoakFile, to: FormatName): Promise<Outcome> {
    const base = { path, from: format, to };
    let jobId: string | undefined;
    let uploadedMs = performance.now();
    const outcome = (end: string, resultBytes = 0): Outcome => ({ ...base, jobId, end, tookMs: performance.now() - uploadedMs, resultBytes });
    try {
      const created = (await (await this.#ask('/v1/jobs', { method: 'POST', body: JSON.stringify({ tasks: tasksOf(format, to) }) })).json()) as JobView;
      jobId = created.id;
      const sent = await fetch(uploadUrlOf(created), { method: 'PUT', body: await openAsBlob(path), signal: AbortSignal.timeout(REQUEST_LIMIT_MS) });
      if (!sent.ok) return outcome(`refused upload ${sent.status}`);
      uploadedMs = performance.now();
      const job = await this.#waitForEnd(created.id);
      if (job === undefined) return outcome('stuck');
      if (job.status !== 'finished') return outcome(causeOf(job));
      const ended = outcome('finished');
      const result = await fetch(resultUrlOf(job), { signal: AbortSignal.timeout(REQUEST_LIMIT_MS) });
      const bytes = (await result.arrayBuffer()).byteLength;
      return bytes > 0 && result.ok ? { ...ended, resultBytes: bytes } : { ...ended, end: 'empty_result' };
    } catch (error) {
      return outcome(`refused ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  async #waitForEnd(jobId: string): Promise<JobView | undefined> {
    for (const limitMs = performance.now() + JOB_LIMIT_MS; performance.now() < limitMs; ) {
      const job = (await (await this.#ask(`/v1/jobs/${jobId}?wait=25`)).json()) as JobView;
      if (!['waiting', 'queued', 'processing'].includes(job.status)) return job;
    }
    return undefined;
  }

  /** Heeds limits of requests, which a service that was not started for this has. */
  async #ask(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { Authorization: `Bearer ${this.#key}`, 'Content-Type': 'application/json' };
    for (let attempt = 1; ; attempt += 1) {
      const answer = await fetch(this.#baseUrl + path, { ...init, headers, signal: AbortSignal.timeout(REQUEST_LIMIT_MS) });
      if (answer.ok) return answer;
      const text = await answer.text();
      if (![429, 503].includes(answer.status) || attempt === ATTEMPTS_MAX) throw new Error(`${answer.status} ${text.slice(0, 200)}`);
      const seconds = Number(answer.headers.get('Retry-After'));
      await delay(seconds > 0 ? seconds * 1000 : PAUSE_MS);
    }
  }
}

function causeOf({ error, status }: JobView): string {
  const cause = error?.details?.['cause'];
  return typeof cause === 'string' ? cause : (error?.code ?? status);
}
