import { setTimeout as delay } from 'node:timers/promises';

const MINUTE_MS = 60_000;

/** Limits are of a calendar minute: waits, at most `neededMs`, until this minute or the next one has so much left. */
export async function untilMinuteHas(neededMs: number): Promise<void> {
  const leftMs = MINUTE_MS - (Date.now() % MINUTE_MS);
  if (leftMs < neededMs) await delay(leftMs + 1);
}
