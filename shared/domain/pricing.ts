/** Milliseconds in a conversion-minute, the unit of §2.7. */
const MINUTE_MS = 60_000;
/** Factor by which every conversion counts; §2.7 says 1. */
export const SPEED_FACTOR = 1;

/** What a charge is computed from; all of it stands in `job.finished` so that anybody can compute it again (D27). */
export type Usage = { readonly billable_ms: number; readonly speed_factor: number; readonly weight: number };

/** Credits of a finished conversion: the formula of §2.7, ceil before weight (D24), never above the hold. */
export function chargeFor(usage: Usage, creditsHeld: number): number {
  return Math.min(creditsByFormula(usage), creditsHeld);
}

/** `max(1, ceil(billable_ms × speed_factor / 60000) × weight)` of §2.7. */
export function creditsByFormula(usage: Usage): number {
  const minutes = Math.ceil((usage.billable_ms * usage.speed_factor) / MINUTE_MS);
  return Math.max(1, minutes * usage.weight);
}
