import type { KeyContext } from '../../../shared/accounts/accounts-copy.ts';
import type { Clock } from '../../../shared/clock/clock.ts';
import { requestsSubject } from '../../../shared/limits/subjects.ts';
import type { Counters } from './counters.ts';
import { endOf, minuteOf } from './minute.ts';
import { HighestCounts } from './highest-counts.ts';

/** What a request counts against: creating jobs, or all the rest (§8 rate limits 1). */
export type BudgetName = 'create' | 'other';

/** Requests a minute that a key has; creating by the plan of its organization. */
export type BudgetLimits = { readonly createFree: number; readonly createActive: number; readonly other: number };

/** How a budget stands. */
export type Usage = {
  readonly limit: number;
  readonly remaining: number;
  /** Unix time in seconds at which the minute ends. */
  readonly resetSeconds: number;
};

/** The requests that keys have left in this minute, exact across all processes (§8 rate limits 1, D78). */
export class KeyBudgets {
  readonly #counters: Counters;
  readonly #limits: BudgetLimits;
  readonly #clock: Clock;
  readonly #seen: HighestCounts;

  constructor(counters: Counters, limits: BudgetLimits, clock: Clock) {
    this.#counters = counters;
    this.#limits = limits;
    this.#clock = clock;
    this.#seen = new HighestCounts(clock);
  }

  /**
   * Counts one request and says whether the budget had it. A budget that is known to be used up is not counted on: a
   * client that does not stop asking costs nothing but the answer. Throws `TransientError`.
   */
  async spend(key: KeyContext, budget: BudgetName): Promise<Usage & { readonly isWithin: boolean }> {
    const limit = this.#limitOf(key, budget);
    const minute = minuteOf(this.#clock.nowMs());
    const subject = requestsSubject(minute, budget, key.api_key_id);
    const seen = this.#seen.get(subject) ?? 0;
    if (seen >= limit) return { ...usage(limit, seen, minute), isWithin: false };
    const count = await this.#counters.add(subject);
    this.#seen.note(subject, count);
    return { ...usage(limit, count, minute), isWithin: count <= limit };
  }

  /** How the budget stands now. Counts nothing; where nothing answers, what this process knows must do (D34). */
  async look(key: KeyContext, budget: BudgetName): Promise<Usage> {
    const minute = minuteOf(this.#clock.nowMs());
    const subject = requestsSubject(minute, budget, key.api_key_id);
    const count = await this.#counters.read(subject).catch(() => 0);
    return usage(this.#limitOf(key, budget), this.#seen.note(subject, count), minute);
  }

  /** How the budget stands as far as this process knows, without asking anybody. */
  recall(key: KeyContext, budget: BudgetName): Usage {
    const minute = minuteOf(this.#clock.nowMs());
    const seen = this.#seen.get(requestsSubject(minute, budget, key.api_key_id)) ?? 0;
    return usage(this.#limitOf(key, budget), seen, minute);
  }

  #limitOf(key: KeyContext, budget: BudgetName): number {
    if (budget === 'other') return this.#limits.other;
    return key.plan === 'active' ? this.#limits.createActive : this.#limits.createFree;
  }
}

function usage(limit: number, count: number, minute: number): Usage {
  return { limit, remaining: Math.max(0, limit - count), resetSeconds: endOf(minute) };
}
