import type { JobView } from '../shared/domain/job-view.ts';
import { resultUrlOf, tasksOf, uploadUrlOf } from '../test/support/client.ts';
import type { TestService } from '../test/support/service.ts';

/** A client without the checks of the tests, so that nothing but the service is measured. */
export class JobClient {
  readonly #service: TestService;

  constructor(service: TestService) {
    this.#service = service;
  }

  /** One job as a client sees it, from the request to the bytes of the result. Throws when it does not finish. */
  async convert(file: Uint8Array, from: string, to: string, options?: Readonly<Record<string, unknown>>): Promise<Buffer> {
    const job = await this.#ask('/v1/jobs', { method: 'POST', body: JSON.stringify({ tasks: tasksOf(from, to, options) }) });
    const sent = await fetch(uploadUrlOf(job), { method: 'PUT', body: file });
    if (!sent.ok) throw new Error(`the file was not taken: ${sent.status}`);
    const ended = await this.#waitForEnd(job.id);
    const result = await fetch(resultUrlOf(ended));
    return Buffer.from(await result.arrayBuffer());
  }

  async #waitForEnd(jobId: string): Promise<JobView> {
    for (;;) {
      const job = await this.#ask(`/v1/jobs/${jobId}?wait=25`);
      if (job.status === 'finished') return job;
      if (!['waiting', 'queued', 'processing'].includes(job.status)) throw new Error(`the job is ${job.status}: ${JSON.stringify(job.error)}`);
    }
  }

  async #ask(path: string, init: RequestInit = {}): Promise<JobView> {
    const headers = { Authorization: `Bearer ${this.#service.liveKey}`, 'Content-Type': 'application/json' };
    const answer = await fetch(this.#service.baseUrl + path, { ...init, headers });
    if (!answer.ok) throw new Error(`${path.split('?')[0]} answered ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as JobView;
  }
}
