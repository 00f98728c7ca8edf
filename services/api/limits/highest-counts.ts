import type { Clock } from '../../../shared/clock/clock.ts';
import { ExpiringCache } from '../../../shared/privacy/expiring-cache.ts';

/** Counts that are remembered, 200 bytes each; one that is forgotten is asked for again. */
const REMEMBERED_MAX = 100_000;
/** A count is of no use after its minute, in ms. */
const REMEMBER_MS = 60_000;

/** The highest count of each counter that this process has seen in the last minute. */
export class HighestCounts {
  readonly #clock: Clock;
  #seen: ExpiringCache<number>;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#seen = this.#empty();
  }

  get(subject: string): number | undefined {
    return this.#seen.get(subject);
  }

  /** Remembers the higher of both and answers it: answers and what is told may overtake each other. */
  note(subject: string, count: number): number {
    const highest = Math.max(count, this.#seen.get(subject) ?? 0);
    this.#seen.set(subject, highest);
    return highest;
  }

  forgetAll(): void {
    this.#seen = this.#empty();
  }

  #empty(): ExpiringCache<number> {
    return new ExpiringCache<number>({ entriesMax: REMEMBERED_MAX, keepMs: REMEMBER_MS }, this.#clock);
  }
}
