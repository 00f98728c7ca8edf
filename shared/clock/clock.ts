/** The only source of time outside the servers we talk to; tests pass their own. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  nowMs(): number;
}

/** The machine's clock. */
export const systemClock: Clock = { nowMs: () => Date.now() };

/** ISO 8601 in UTC with milliseconds, the one form in which times are written (§2.1). */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
