import { expect } from 'chai';
import { waitFor } from '../../services/standalone/processes.ts';
import type { JobView } from '../../shared/domain/job-view.ts';
import { resultPrefix } from '../../shared/objects/keys.ts';
import { resultUrlOf, TestClient, type Answer } from './client.ts';
import { creditsByJob, readLog, typesByJob } from './log-reading.ts';
import type { TestOperator, TestOrganization } from './organization.ts';
import { runCommand } from './run-program.ts';
import type { TestService } from './service.ts';
import { openStoreOf } from './stored-files.ts';

/** What a killed worker had in hand comes again after 30 s, and a busy machine takes its time. */
const SETTLED_LIMIT_MS = 180_000;
/** Projections that were killed come back after seconds, and first wait for the lease of the one before. */
const LISTS_LIMIT_MS = 60_000;
const PER_PAGE = 100;
const ENDS = new Set(['job.finished', 'job.failed', 'job.cancelled', 'job.expired']);
const ACTIVE = new Set(['waiting', 'queued', 'processing']);

type JobList = { readonly data: readonly JobView[]; readonly total: number };

/**
 * An organization of a test with its books kept by the test itself: what it was granted and which jobs it was promised.
 * `requireRight` holds them against what the service says, and against the log.
 */
export class Books {
  readonly client: TestClient;
  readonly organization: TestOrganization;
  readonly granted: number;
  /** Ids of all jobs that were answered with 201. */
  readonly promised = new Set<string>();
  readonly #service: TestService;
  readonly #operator: TestOperator;
  readonly #secret: string;

  private constructor(service: TestService, operator: TestOperator, organization: TestOrganization, secret: string, granted: number) {
    this.#service = service;
    this.#operator = operator;
    this.#secret = secret;
    this.organization = organization;
    this.client = new TestClient(service.baseUrl, secret);
    this.granted = granted;
  }

  /** Opens the books of a new organization. */
  static async open(service: TestService, operator: TestOperator, granted: number): Promise<Books> {
    const organization = await operator.newOrganization(granted);
    return new Books(service, operator, organization, (await organization.newKey('live')).secret, granted);
  }

  /** A client of the same organization at another api process. */
  clientAt(baseUrl: string): TestClient {
    return new TestClient(baseUrl, this.#secret);
  }

  /** The same books after the service was started anew. */
  continueAt(service: TestService, operator: TestOperator): Books {
    const books = new Books(service, operator, operator.findOrganization(this.organization.id), this.#secret, this.granted);
    for (const id of this.promised) books.promised.add(id);
    return books;
  }

  /** Asks for a job; a 201 is noted. Undefined when the connection broke, so that nobody knows. */
  async tryCreate(tasks: unknown): Promise<Answer<JobView> | undefined> {
    const answer = await this.client.send<JobView>('POST', '/v1/jobs', { json: { tasks } }).catch(() => undefined);
    if (answer?.status === 201) this.promised.add(answer.body.id);
    return answer;
  }

  /** Creates a job that must be created. */
  async create(tasks: unknown): Promise<JobView> {
    const answer = await this.tryCreate(tasks);
    expect(answer?.status, answer?.bytes.toString()).to.equal(201);
    return answer!.body;
  }

  /** All jobs of the organization, from the lists; waits while they are not there for a moment. */
  async listAll(): Promise<readonly JobView[]> {
    const jobs: JobView[] = [];
    for (let page = 1; ; page += 1) {
      const answer = await waitFor('the lists', LISTS_LIMIT_MS, async () => {
        const tried = await this.client.send<JobList>('GET', `/v1/jobs?per_page=${PER_PAGE}&page=${page}`);
        return tried.status === 503 ? undefined : tried;
      });
      expect(answer.status, answer.bytes.toString()).to.equal(200);
      jobs.push(...answer.body.data);
      if (answer.body.data.length < PER_PAGE) return jobs;
    }
  }

  /** Cancels whatever still waits for its file, jobs that nobody was told of among them. */
  async cancelWaiting(): Promise<void> {
    for (const { id, status } of await this.listAll()) {
      if (status === 'waiting') expect((await this.client.send('POST', `/v1/jobs/${id}/cancel`)).status).to.be.oneOf([200, 409]);
    }
  }

  /** Waits until every job has ended and every hold with it. */
  async untilSettled(): Promise<void> {
    await waitFor('the end of all jobs', SETTLED_LIMIT_MS, async () => {
      const active = (await this.listAll()).find(({ status }) => ACTIVE.has(status));
      // A long poll instead of asking again and again: the machine is busy enough.
      if (active) await this.client.send('GET', `/v1/jobs/${active.id}?wait=10`);
      return active ? undefined : true;
    });
    await waitFor('the settlement of all holds', SETTLED_LIMIT_MS, async () => {
      const credits = creditsByJob(await this.#ownEvents('CREDITS'));
      return [...credits.values()].every((kinds) => kinds.length === 2) || undefined;
    });
  }

  /**
   * Waits until all is settled, then requires: every promised job is there and ended once; a finished one has one
   * result that can be fetched and one charge, any other one release; the balance is what was granted less what was used.
   */
  async requireRight(): Promise<readonly JobView[]> {
    await this.untilSettled();
    const jobs = await this.listAll();
    const listed = new Set(jobs.map(({ id }) => id));
    expect(listed.size, 'no job is listed twice').to.equal(jobs.length);
    expect([...this.promised].filter((id) => !listed.has(id)), 'promised, but not listed').to.deep.equal([]);

    const types = typesByJob(await this.#ownEvents('JOBS'));
    const credits = creditsByJob(await this.#ownEvents('CREDITS'));
    for (const { id, status } of jobs) {
      const ends = (types.get(id) ?? []).filter((type) => ENDS.has(type));
      expect(ends, `ends of job ${id}`).to.have.length(1);
      expect(credits.get(id), `credits of job ${id}, ${status}`).to.deep.equal(['held', status === 'finished' ? 'charged' : 'released']);
      if (status === 'finished') await this.#requireOneResult(id);
    }
    for (const [id, kinds] of credits) if (!listed.has(id)) expect(kinds, `hold ${id} without a job`).to.deep.equal(['held', 'released']);

    const used = jobs.reduce((sum, job) => sum + (job.credits_used ?? 0), 0);
    const me = await this.client.send<{ credits: { balance: number } }>('GET', '/v1/me');
    expect(me.body.credits.balance, 'balance').to.equal(this.granted - used);
    return jobs;
  }

  async #requireOneResult(jobId: string): Promise<void> {
    const answer = await this.client.send('GET', resultUrlOf(await this.client.readJob(jobId)));
    expect(answer.status, `result of ${jobId}`).to.equal(200);
    expect(answer.bytes.length, `result of ${jobId}`).to.be.greaterThan(0);
    const stored: string[] = [];
    for await (const { key } of (await openStoreOf(this.#service)).list(resultPrefix(jobId))) stored.push(key);
    expect(stored, `results of ${jobId} in the store`).to.have.length(1);
  }

  async #ownEvents(stream: 'JOBS' | 'CREDITS') {
    return (await readLog(this.#operator.nc, stream)).filter(({ tenant }) => tenant === this.organization.id);
  }
}

/** Runs `audit verify` as an operator would and requires that all is in order. */
export async function requireCleanAudit(service: TestService): Promise<void> {
  const { code, stdout, stderr } = await runCommand('audit', ['verify', '--json'], { DATA_DIR: service.dataDir });
  expect(code, `${stdout}\n${stderr}`).to.equal(0);
  expect(JSON.parse(stdout)).to.include({ ok: true, findings: 0 });
}
