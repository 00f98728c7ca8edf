import { TransientError } from '../../../../shared/errors/errors.ts';
import type { Instance } from './instance.ts';
import { mayServe, type Isolation, type Kept } from './kept.ts';

/** An instance for one job. */
export interface Lease {
  readonly instance: Instance;
  /** Gives it back; `memoryBytes` undefined ends it, which is right after any trouble. */
  release(memoryBytes: number | undefined): void;
}

/** How instances are kept. */
export interface KeeperSettings {
  readonly slots: number;
  readonly isolation: Isolation;
  /**
   * Starts one; undefined when it does not come up, or when the signal says that nobody wants it any more. It is warmed
   * up unless somebody waits for it: then what its first document would wait for costs the same at once or later.
   */
  readonly start: (signal: AbortSignal, warmUp: boolean) => Promise<Instance | undefined>;
}

/** Instances that wait beyond the slots, so that the next job finds one while the last one is being replaced. */
const SPARES = 1;
/** More starts at once than this would slow down the conversions that run meanwhile. */
const STARTS_MAX = 2;
/** After so many starts in a row without a job that was served, whoever waits is told. */
const START_FAILURES_MAX = 3;
/** Wait before the next start then, milliseconds: a full disk or memory does not come back at once. */
const START_AGAIN_MS = 5_000;
/** Jobs that may wait; the slots of the queue keep it far below. */
const WAITING_MAX = 1_000;

interface Ticket {
  readonly organizationId: string;
  readonly take: (kept: Kept) => void;
  readonly refuse: (error: unknown) => void;
}

/** Hands out instances, one job at a time, and starts new ones ahead of need; the first when the first job comes. */
export class InstanceKeeper {
  readonly #settings: KeeperSettings;
  readonly #all = new Set<Kept>();
  readonly #tickets = new Set<Ticket>();
  /** What must be over before the keeper has stopped. */
  readonly #work = new Set<Promise<unknown>>();
  #starting = 0;
  #failures = 0;
  #resting: NodeJS.Timeout | undefined;
  readonly #stopping = new AbortController();

  constructor(settings: KeeperSettings) {
    this.#settings = settings;
  }

  /**
   * Waits for an instance that may serve this organization.
   * @throws TransientError when none can be started or the keeper stops; the reason of `signal` when it is aborted.
   */
  acquire(organizationId: string, signal: AbortSignal): Promise<Lease> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      if (this.#stopping.signal.aborted || this.#tickets.size >= WAITING_MAX) throw new TransientError('storage', 'the office suite takes no jobs now');
      const onAbort = (): void => ticket.refuse(signal.reason);
      const leave = (): void => {
        this.#tickets.delete(ticket);
        signal.removeEventListener('abort', onAbort);
      };
      const ticket: Ticket = {
        organizationId,
        take: (kept) => {
          leave();
          resolve(this.#lend(kept, organizationId));
        },
        refuse: (error) => {
          leave();
          reject(error);
        },
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#tickets.add(ticket);
      this.#move();
    });
  }

  /** Ends all instances; resolves when their processes and folders are gone. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#resting);
    this.#refuseAll('the office suite is being stopped');
    for (const kept of this.#all) this.#retire(kept);
    while (this.#work.size > 0) await Promise.all(this.#work);
  }

  #lend(kept: Kept, organizationId: string): Lease {
    this.#failures = 0;
    kept.busy = true;
    kept.organizationId = organizationId;
    return {
      instance: kept.instance,
      release: (memoryBytes) => {
        kept.busy = false;
        kept.jobs += 1;
        kept.memoryBytes = memoryBytes ?? 0;
        if (memoryBytes === undefined || !this.#mayStay(kept)) this.#retire(kept);
        this.#move();
      },
    };
  }

  /** Serves whom it can, then sees to it that instances stand ready. */
  #move(): void {
    if (this.#stopping.signal.aborted) return;
    for (const ticket of this.#tickets) {
      if ([...this.#all].filter(({ busy }) => busy).length >= this.#settings.slots) break;
      const kept = this.#choose(ticket.organizationId);
      if (kept !== undefined) ticket.take(kept);
    }
    this.#fill();
  }

  /** Rather one that knows the organization already. */
  #choose(organizationId: string): Kept | undefined {
    for (const kept of this.#all) if (!kept.busy && !this.#mayStay(kept)) this.#retire(kept);
    const able = [...this.#all].filter((kept) => !kept.busy && (kept.organizationId ?? organizationId) === organizationId);
    return able.find((kept) => kept.organizationId === organizationId) ?? able[0];
  }

  #mayStay(kept: Kept): boolean {
    return mayServe(kept, this.#settings.isolation);
  }

  /** One is always untouched, so that no organization waits until an instance of another has been replaced. */
  #fill(): void {
    if (this.#resting !== undefined) return;
    const wanted = this.#settings.slots + SPARES;
    const untouched = [...this.#all].some((kept) => kept.organizationId === undefined);
    const idle = [...this.#all].find(({ busy }) => !busy);
    if (!untouched && this.#starting === 0 && this.#all.size >= wanted && idle !== undefined) this.#retire(idle);
    while (this.#starting < STARTS_MAX && this.#all.size + this.#starting < wanted) this.#follow(this.#startOne());
  }

  async #startOne(): Promise<void> {
    this.#starting += 1;
    const instance = await this.#settings.start(this.#stopping.signal, this.#tickets.size === 0).catch(() => undefined);
    this.#starting -= 1;
    if (instance === undefined) this.#countFailure();
    else if (this.#stopping.signal.aborted) await instance.remove();
    else this.#keep(instance);
    this.#move();
  }

  #keep(instance: Instance): void {
    const kept: Kept = { instance, organizationId: undefined, busy: false, jobs: 0, memoryBytes: 0, startedAt: performance.now() };
    this.#all.add(kept);
    this.#follow(this.#untilGone(kept));
  }

  /** An instance that dies while it has nothing to do is replaced; one that works is given back by whoever has it. */
  async #untilGone(kept: Kept): Promise<void> {
    await kept.instance.gone;
    if (kept.busy || !this.#all.has(kept)) return;
    // One that dies before it has done anything would be started again and again.
    if (kept.organizationId === undefined) this.#countFailure();
    this.#retire(kept);
    this.#move();
  }

  #countFailure(): void {
    this.#failures += 1;
    if (this.#failures < START_FAILURES_MAX || this.#stopping.signal.aborted) return;
    this.#refuseAll('the office suite could not be started');
    this.#resting ??= setTimeout(() => {
      this.#resting = undefined;
      this.#failures = 0;
      this.#move();
    }, START_AGAIN_MS).unref();
  }

  #refuseAll(reason: string): void {
    for (const ticket of this.#tickets) ticket.refuse(new TransientError('storage', reason));
  }

  #retire(kept: Kept): void {
    if (this.#all.delete(kept)) this.#follow(kept.instance.remove());
  }

  /** A folder that cannot be removed is removed at the next start. */
  #follow(task: Promise<unknown>): void {
    const settled = task.catch(() => undefined).finally(() => this.#work.delete(settled));
    this.#work.add(settled);
  }
}
