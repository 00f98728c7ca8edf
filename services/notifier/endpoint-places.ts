import type { Clock } from '../../shared/clock/clock.ts';

/** Attempts at one endpoint at once: it begins with one, and every success doubles it up to this. */
const AT_ENDPOINT_MAX = 8;
/** Deliveries that wait in memory for a place at one endpoint, and at all of them together; the others wait in `TIMERS`. */
const WAITING_AT_ENDPOINT_MAX = 64;
export const WAITING_MAX = 2_000;
/** Longest wait in memory, in ms: whoever waits holds a slot that others could need. */
const WAIT_MS_MAX = 2_000;
/** Shortest time for which a delivery is put off, and the longest at an endpoint that answers in time and at others, in ms. */
const PUT_OFF_MS_MIN = 1_000;
const PUT_OFF_PROMPT_MS_MAX = 30_000;
const PUT_OFF_MS_MAX = 120_000;
/** Endpoints that cannot be reached or answer late get no more than this share of all places, so that others always find one. */
const HELD_UP_SHARE = 0.75;
/** An endpoint answers late when its attempts last longer than this on average, in ms; usual ones take a tenth of it. */
const LATE_MS = 3_000;
/** Endpoints that are remembered; the one that was asked for least lately is forgotten first, and begins anew. */
const ENDPOINTS_MAX = 20_000;
/** Weight of the newest attempt in the average time of attempts at an endpoint. */
const NEWEST_WEIGHT = 0.2;
/** What an attempt is taken to last before there was one, in ms. */
const ATTEMPT_MS_DEFAULT = 100;

/** How an attempt went, as far as the next ones depend on it: answered well, answered badly, or not answered at all. */
export type Reached = 'success' | 'answer' | 'unreachable';

/**
 * A place at an endpoint; it is given back with how it went, or without a word when nothing was sent. `tookMs` is how long
 * the endpoint took, where that is known: what we ourselves take is no fault of it.
 */
export type EndpointPlace = { readonly giveBack: (reached?: Reached, tookMs?: number) => void };

type Waiter = { readonly wake: (place: EndpointPlace | undefined) => void };
type Endpoint = {
  readonly id: string;
  limit: number;
  running: number;
  isUnreachable: boolean;
  /** How long attempts last on average; undefined before there was one. */
  attemptMs: number | undefined;
  /** When whoever is put off next is to come again. */
  nextTurnMs: number;
  readonly waiting: Set<Waiter>;
};

/**
 * Shares out the attempts that one notifier makes at once, so that no endpoint delays another (§6): one that answers
 * gets more places as it does, one that does not is left with one, and those that keep us waiting share a part of all
 * places, whatever they answer in the end. Whoever finds no place waits for a moment, and is then put off until its turn.
 */
export class EndpointPlaces {
  readonly #clock: Clock;
  readonly #elapsedMs: () => number;
  readonly #total: number;
  readonly #endpoints = new Map<string, Endpoint>();
  /** Endpoints at which somebody waits, in the order in which they get what is free. */
  readonly #waitedFor = new Set<Endpoint>();
  #running = 0;
  #runningHeldUp = 0;
  #waiting = 0;

  /** `total` attempts at once; `elapsedMs` is a clock that nobody sets, by which attempts are timed. */
  constructor(total: number, clock: Clock, elapsedMs = (): number => performance.now()) {
    this.#total = total;
    this.#clock = clock;
    this.#elapsedMs = elapsedMs;
  }

  /** Attempts that are being made now. */
  get running(): number {
    return this.#running;
  }

  /** Takes a place at an endpoint, after a short wait if need be; undefined when there is none, or `signal` says to stop. */
  async take(endpointId: string, signal: AbortSignal): Promise<EndpointPlace | undefined> {
    const endpoint = this.#find(endpointId);
    if (signal.aborted) return undefined;
    if (endpoint.waiting.size === 0 && this.#isFree(endpoint)) return this.#begin(endpoint);
    if (holdsUp(endpoint) || endpoint.waiting.size >= WAITING_AT_ENDPOINT_MAX || this.#waiting >= WAITING_MAX) return undefined;
    return await this.#wait(endpoint, signal);
  }

  /** When a delivery that found no place is to come again, in ms since the epoch: after those that were put off before it. */
  putOffUntil(endpointId: string): number {
    const endpoint = this.#find(endpointId);
    const nowMs = this.#clock.nowMs();
    const turnMs = Math.max(endpoint.nextTurnMs, nowMs + PUT_OFF_MS_MIN);
    // As many come back as the endpoint can take, or may soon: more would only be put off again.
    const [atOnce, longestMs] = holdsUp(endpoint) ? [endpoint.limit, PUT_OFF_MS_MAX] : [AT_ENDPOINT_MAX, PUT_OFF_PROMPT_MS_MAX];
    endpoint.nextTurnMs = Math.min(turnMs + (endpoint.attemptMs ?? ATTEMPT_MS_DEFAULT) / atOnce, nowMs + longestMs);
    return Math.round(turnMs + Math.random() * PUT_OFF_MS_MIN);
  }

  #find(id: string): Endpoint {
    const known = this.#endpoints.get(id);
    const endpoint = known ?? { id, limit: 1, running: 0, isUnreachable: false, attemptMs: undefined, nextTurnMs: 0, waiting: new Set() };
    this.#endpoints.delete(id);
    this.#endpoints.set(id, endpoint);
    if (!known && this.#endpoints.size > ENDPOINTS_MAX) this.#forgetOne();
    return endpoint;
  }

  #forgetOne(): void {
    for (const [id, { running, waiting }] of this.#endpoints) {
      if (running > 0 || waiting.size > 0) continue;
      this.#endpoints.delete(id);
      return;
    }
  }

  #isFree(endpoint: Endpoint): boolean {
    if (endpoint.running >= endpoint.limit || this.#running >= this.#total) return false;
    return !holdsUp(endpoint) || this.#runningHeldUp < this.#total * HELD_UP_SHARE;
  }

  #begin(endpoint: Endpoint): EndpointPlace {
    const startedMs = this.#elapsedMs();
    const isHeldUp = holdsUp(endpoint);
    this.#running += 1;
    this.#runningHeldUp += isHeldUp ? 1 : 0;
    endpoint.running += 1;
    return {
      giveBack: (reached, tookMs = this.#elapsedMs() - startedMs) => {
        const wasFull = this.#running >= this.#total;
        this.#running -= 1;
        this.#runningHeldUp -= isHeldUp ? 1 : 0;
        endpoint.running -= 1;
        if (reached) this.#learn(endpoint, reached, tookMs);
        this.#wake(endpoint);
        if (wasFull) for (const other of this.#waitedFor) this.#wake(other);
      },
    };
  }

  #learn(endpoint: Endpoint, reached: Reached, durationMs: number): void {
    const wasUnreachable = endpoint.isUnreachable;
    endpoint.isUnreachable = reached === 'unreachable';
    const { attemptMs } = endpoint;
    endpoint.attemptMs = attemptMs === undefined || wasUnreachable !== endpoint.isUnreachable ? durationMs : attemptMs + NEWEST_WEIGHT * (durationMs - attemptMs);
    if (reached === 'success') endpoint.limit = Math.min(endpoint.limit * 2, AT_ENDPOINT_MAX);
    if (wasUnreachable && reached !== 'unreachable') endpoint.nextTurnMs = 0;
    if (reached !== 'unreachable') return;
    endpoint.limit = 1;
    // They would wait in vain.
    for (const waiter of endpoint.waiting) waiter.wake(undefined);
  }

  #wake(endpoint: Endpoint): void {
    for (const waiter of endpoint.waiting) {
      if (!this.#isFree(endpoint)) return;
      waiter.wake(this.#begin(endpoint));
    }
  }

  async #wait(endpoint: Endpoint, signal: AbortSignal): Promise<EndpointPlace | undefined> {
    return await new Promise((resolve) => {
      const leave = (place: EndpointPlace | undefined): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', giveUp);
        endpoint.waiting.delete(waiter);
        if (endpoint.waiting.size === 0) this.#waitedFor.delete(endpoint);
        this.#waiting -= 1;
        resolve(place);
      };
      const giveUp = (): void => leave(undefined);
      const waiter: Waiter = { wake: leave };
      const timer = setTimeout(giveUp, WAIT_MS_MAX);
      signal.addEventListener('abort', giveUp);
      endpoint.waiting.add(waiter);
      this.#waitedFor.add(endpoint);
      this.#waiting += 1;
    });
  }
}

/** Whether attempts at the endpoint keep a place for long: waiting in memory for the next one would be in vain. */
function holdsUp({ isUnreachable, attemptMs }: Endpoint): boolean {
  return isUnreachable || (attemptMs ?? 0) > LATE_MS;
}
