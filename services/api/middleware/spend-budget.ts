import type { Middleware } from 'koa';
import type { Clock } from '../../../shared/clock/clock.ts';
import type { ApiState } from '../http/context.ts';
import type { BudgetName, KeyBudgets, Usage } from '../limits/key-budgets.ts';
import { limitError } from '../limits/limit-error.ts';

/** A request that took longer than this, in ms, was held; what it was told at its start may be wrong by now. */
const HELD_MS_MIN = 1_000;

/**
 * Counts the request against its budget, before anything else about it is looked at: what is refused later counts too
 * (D78). Every answer to a known caller says how the budget stands; one that was held says how it stands when it goes
 * out (D34). Throws `ApiError` 429, `TransientError` when nothing can be counted.
 */
export function spendBudget(budgets: KeyBudgets, clock: Clock): Middleware<ApiState> {
  return async (ctx, next) => {
    const { key, match } = ctx.state;
    if (!key) {
      await next();
      return;
    }
    const budget: BudgetName = (match.kind === 'route' ? match.route.budget : undefined) ?? 'other';
    const startMs = performance.now();
    // As far as it is known, for the case that nothing can be counted.
    ctx.set(headersOf(budgets.recall(key, budget)));
    const spent = await budgets.spend(key, budget);
    ctx.set(headersOf(spent));
    if (!spent.isWithin) throw limitError('key_rate_limited', spent.limit, spent.resetSeconds, clock.nowMs());
    try {
      await next();
    } finally {
      const isOver = clock.nowMs() >= spent.resetSeconds * 1000;
      if (isOver || performance.now() - startMs >= HELD_MS_MIN) ctx.set(headersOf(await budgets.look(key, budget)));
    }
  };
}

function headersOf({ limit, remaining, resetSeconds }: Usage): Record<string, string> {
  return { 'X-RateLimit-Limit': String(limit), 'X-RateLimit-Remaining': String(remaining), 'X-RateLimit-Reset': String(resetSeconds) };
}
