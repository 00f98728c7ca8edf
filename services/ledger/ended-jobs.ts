import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { readStream, streamExtent } from '../../shared/consume/read-stream.ts';
import { balanceOf } from '../../shared/domain/credits.ts';
import { Defect, TransientError } from '../../shared/errors/errors.ts';
import type { StoredEvent } from '../../shared/events/envelope.ts';
import { isSettled, SETTLE_DURABLE } from '../../shared/ledger-client/settling.ts';
import { toTransient } from '../../shared/nats/transient.ts';
import type { EventStore } from '../../shared/store/event-store.ts';
import { decodeMessage } from '../../shared/store/stored-message.ts';
import type { Books } from './books.ts';
import type { HoldRow } from './credits-tables.ts';
import { settleInTurn, settlementOf } from './settle.ts';

/** How long a refusal is delayed at most to look for jobs that ended, in ms; the caller waits five seconds in all. */
const LOOK_MS_MAX = 1_000;
/** Jobs that are looked at side by side. */
const PAGE_SIZE = 32;
/** An organization with more open holds than this is looked up in what the worker has yet to read, which does not grow with it. */
const HOLDS_WALKED_MAX = 4 * PAGE_SIZE;
/** Organizations of which is kept how far they were looked at; one that is forgotten is looked at once more. */
const LOOKS_MAX = 10_000;

/** What looking at ended jobs needs. */
export type EndedJobsParts = { readonly nc: NatsConnection; readonly store: EventStore; readonly books: Books };

/** When the last look that left nothing out began, by `performance.now()`, and up to where `JOBS` was read for an organization. */
type Look = { readonly wholeMs: number; readonly position: number };

/** What the worker has yet to settle: the ends of jobs after `floor`, up to `last`. */
type Backlog = { readonly floor: number; readonly last: number; readonly filters: readonly string[] };

/**
 * Settles jobs that ended and that the worker has not come to yet, before credits are refused. So a job that just ended
 * never causes a false 402, however far the worker is behind.
 */
export class EndedJobs {
  readonly #parts: EndedJobsParts;
  readonly #manager: Promise<JetStreamManager>;
  /** By organization; latest last. */
  readonly #looks = new Map<string, Look>();

  constructor(parts: EndedJobsParts) {
    this.#parts = parts;
    this.#manager = jetstreamManager(parts.nc, { checkAPI: false });
  }

  /**
   * Settles ended jobs of an organization until `required` credits are there, or until none is left that ended before
   * `receivedMs` (by `performance.now()`). Call it inside `books.inTurn`. Throws `TransientError` when that takes too
   * long; asked again it goes on where it was.
   */
  async settle(organizationId: string, required: number, receivedMs: number): Promise<void> {
    const { books } = this.#parts;
    const before = this.#looks.get(organizationId) ?? { wholeMs: -Infinity, position: 0 };
    // Somebody looked at all of them after this request came.
    if (before.wholeMs >= receivedMs) return;
    const beganMs = performance.now();
    const backlog = await this.#readBacklog();
    // After the question: what the worker is through with lies in CREDITS by now.
    await books.catchUp();
    if (balanceOf(books.tables.readState(organizationId, undefined)) >= required) return;
    const search = { organizationId, required, endMs: beganMs + LOOK_MS_MAX };
    if (backlog && books.tables.countOpenHolds(organizationId) <= HOLDS_WALKED_MAX) {
      // Whether it left something out is told, so that the next request does not rely on it.
      if (!(await this.#walkHolds(search))) return;
    } else if (backlog && !(await this.#readOn(search, backlog, before))) {
      return;
    }
    this.#keep(organizationId, { wholeMs: beganMs, position: Math.max(before.position, backlog?.last ?? 0) });
  }

  /** Undefined when every job that ended until now is settled. */
  async #readBacklog(): Promise<Backlog | undefined> {
    const { last } = await streamExtent(this.#parts.nc, 'JOBS');
    try {
      const info = await (await this.#manager).consumers.info('JOBS', SETTLE_DURABLE);
      return isSettled(info, last) ? undefined : { floor: info.ack_floor.stream_seq, last, filters: info.config.filter_subjects ?? [] };
    } catch (error) {
      throw toTransient(error);
    }
  }

  /** Looks at the job of each open hold, oldest first. False when there were enough credits before the last one. */
  async #walkHolds(search: Search): Promise<boolean> {
    const { books } = this.#parts;
    for (let position = 0; ; ) {
      const page = books.tables.listOpenHolds(search.organizationId, position, PAGE_SIZE);
      const last = page.at(-1);
      if (!last) return true;
      for (const ended of await Promise.all(page.map((hold) => this.#findEnd(hold)))) {
        if (ended) await this.#trySettle(ended);
      }
      if (this.#isEnough(search)) return false;
      position = last.position;
    }
  }

  /** Reads the ends of all jobs that the worker has yet to come to. False when there were enough credits before the last one. */
  async #readOn(search: Search, { floor, last, filters }: Backlog, before: Look): Promise<boolean> {
    let position = Math.max(before.position, floor);
    try {
      for await (const message of readStream(this.#parts.nc, 'JOBS', position + 1, last, filters)) {
        const stored = decodeMessage(message.subject, message.position, message.bytes);
        if (stored.envelope.tenant === search.organizationId) await this.#trySettle(stored);
        // Before the time is looked at, so that every request gets further.
        position = message.position;
        if (this.#isEnough(search)) return false;
      }
    } finally {
      this.#keep(search.organizationId, { wholeMs: before.wholeMs, position });
    }
    return true;
  }

  async #findEnd(hold: HoldRow): Promise<StoredEvent | undefined> {
    const events = await this.#parts.store.load({ kind: 'job', id: hold.job_id });
    return events.find((stored) => settlementOf(stored) !== undefined);
  }

  /** What cannot be settled does not keep the organization from an answer; the worker meets it too, parks it and says so. */
  async #trySettle(stored: StoredEvent): Promise<void> {
    try {
      await settleInTurn(this.#parts.books, stored);
    } catch (error) {
      if (!(error instanceof Defect)) throw error;
    }
  }

  /** Throws `TransientError` at the end of the time: asking again later is better than a refusal that may be false. */
  #isEnough({ organizationId, required, endMs }: Search): boolean {
    if (balanceOf(this.#parts.books.tables.readState(organizationId, undefined)) >= required) return true;
    if (performance.now() > endMs) throw new TransientError('ledger', 'too many jobs to look at before credits are refused');
    return false;
  }

  #keep(organizationId: string, look: Look): void {
    this.#looks.delete(organizationId);
    this.#looks.set(organizationId, look);
    const [oldest] = this.#looks.keys();
    if (this.#looks.size > LOOKS_MAX && oldest !== undefined) this.#looks.delete(oldest);
  }
}

/** What is looked for, and until when, by `performance.now()`. */
type Search = { readonly organizationId: string; readonly required: number; readonly endMs: number };
