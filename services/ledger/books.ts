import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../shared/clock/clock.ts';
import { creditsDecider, type CreditsCommand, type CreditsState } from '../../shared/domain/credits.ts';
import { ConflictError, TransientError } from '../../shared/errors/errors.ts';
import type { Origin, StoredEvent } from '../../shared/events/envelope.ts';
import type { EventStore } from '../../shared/store/event-store.ts';
import type { CreditsCopy } from './credits-copy.ts';
import type { CreditsTables } from './credits-tables.ts';
import { KeyedQueue } from './keyed-queue.ts';

/** How often a decision is made anew because another ledger appended first. */
const DECISIONS_MAX = 10;
/** Upper end of the random wait before deciding anew, in ms; keeps racing ledgers apart. */
const RETRY_JITTER_MS_MAX = 20;
/** How long the copy may take to reach the end of the stream before a decision is given up, in ms; usually 1 to 5. */
const CATCH_UP_MS_MAX = 1_000;

/** A command to the credits of one organization, and where it comes from. */
export type Intent = {
  readonly organizationId: string;
  /** The job it is about; absent for a grant. */
  readonly jobId?: string;
  /** Made from the tables each time it is decided, where it depends on them. */
  readonly command: CreditsCommand | ((tables: CreditsTables) => CreditsCommand);
  readonly origin: Pick<Origin, 'commandId' | 'correlationId' | 'causationId' | 'actor'>;
  /** Runs after the decision and before its event is appended, each time it is decided anew. */
  readonly beforeAppend?: () => Promise<void>;
};

/** State after a decision; `appended` is absent when nothing was left to do. */
export type Decided = { readonly state: CreditsState; readonly appended?: StoredEvent };

/**
 * The credits of all organizations. Any number of processes may hold books at once: what is decided from the copy is
 * appended only if the organization's version is still the one that was decided on.
 */
export class Books {
  readonly tables: CreditsTables;
  readonly #copy: CreditsCopy;
  readonly #store: EventStore;
  readonly #clock: Clock;
  readonly #queue = new KeyedQueue();

  constructor(copy: CreditsCopy, store: EventStore, clock: Clock) {
    this.tables = copy.tables;
    this.#copy = copy;
    this.#store = store;
    this.#clock = clock;
  }

  /** Runs `work` as the only one of this process that decides about the organization (D29). Throws `TransientError` when too many wait. */
  inTurn<T>(organizationId: string, work: () => Promise<T>): Promise<T> {
    return this.#queue.run(organizationId, work);
  }

  /** Waits, bounded, until the copy holds every credits event there is now. Throws `TransientError`. */
  catchUp(): Promise<void> {
    return this.#copy.catchUp(CATCH_UP_MS_MAX);
  }

  /**
   * Decides and appends; call it inside `inTurn`. Throws what the decider throws, and `TransientError` when the log
   * is away, the copy stands still, or other ledgers were faster too often.
   */
  async decide(intent: Intent): Promise<Decided> {
    for (let decision = 1; decision <= DECISIONS_MAX; decision += 1) {
      if (this.#copy.reader.halted()) throw new TransientError('ledger', 'the copy of the credits stands still');
      const decided = await this.#tryOnce(intent);
      if (decided) return decided;
      await delay(Math.random() * RETRY_JITTER_MS_MAX);
      await this.catchUp();
    }
    throw new TransientError('ledger', 'other ledgers decided about this organization first, too often');
  }

  /** Undefined when the copy was behind and the decision is to be made anew. */
  async #tryOnce(intent: Intent): Promise<Decided | undefined> {
    const { organizationId, jobId } = intent;
    const command = typeof intent.command === 'function' ? intent.command(this.tables) : intent.command;
    const state = this.tables.readState(organizationId, jobId);
    const account = this.tables.findAccount(organizationId);
    // Holds know their job, grants are known by their command only.
    if (command.type === 'grant' && this.tables.findGrant(intent.origin.commandId, organizationId) !== undefined) return { state };
    const event = creditsDecider.decide(command, state);
    if (event === null) return { state };
    await intent.beforeAppend?.();
    const origin = { ...intent.origin, tenant: organizationId, service: 'ledger', nowMs: this.#clock.nowMs() };
    const after = account ? { version: account.version, hash: account.last_hash } : { version: 0 };
    const appended = await this.#append({ kind: 'credits', id: organizationId }, after, event, origin);
    if (!appended) return undefined;
    // The next decision of this organization needs this event; when the copy is slow, it is decided anew then.
    await this.#copy.reader.waitFor(appended.position, CATCH_UP_MS_MAX);
    return { state: creditsDecider.evolve(state, event), appended };
  }

  async #append(...[aggregate, after, event, origin]: Parameters<EventStore['append']>): Promise<StoredEvent | undefined> {
    try {
      const stored = await this.#store.append(aggregate, after, event, origin);
      // Otherwise the same command was stored earlier, at a version that the copy has not seen yet.
      return stored.version === after.version + 1 ? stored : undefined;
    } catch (error) {
      if (error instanceof ConflictError) return undefined;
      throw error;
    }
  }
}
