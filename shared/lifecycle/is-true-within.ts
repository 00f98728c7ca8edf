import { setTimeout as delay } from 'node:timers/promises';

/** True when `look` answers true within so many ms; false when it answers false, throws, or takes longer. */
export async function isTrueWithin(limitMs: number, look: () => Promise<boolean>): Promise<boolean> {
  const patience = new AbortController();
  try {
    return await Promise.race([look(), delay(limitMs, false, { signal: patience.signal })]);
  } catch {
    return false;
  } finally {
    patience.abort();
  }
}
