const MINUTE_MS = 60_000;

/** Calendar minute that a time lies in, counted from the Unix epoch (D78). */
export function minuteOf(nowMs: number): number {
  return Math.floor(nowMs / MINUTE_MS);
}

/** Unix time in seconds at which a minute ends. */
export function endOf(minute: number): number {
  return ((minute + 1) * MINUTE_MS) / 1000;
}

/** Whole seconds until that time, at least one: a client that waits so long finds a new minute. */
export function secondsUntil(unixSeconds: number, nowMs: number): number {
  return Math.max(1, Math.ceil(unixSeconds - nowMs / 1000));
}
