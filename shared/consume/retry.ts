import { setTimeout as delay } from 'node:timers/promises';
import { TransientError } from '../errors/errors.ts';

/** First and longest wait between two tries, in ms. */
const WAIT_MS_MIN = 100;
const WAIT_MS_MAX = 5_000;
/** How often something is tried at most; with the waits above about two minutes. */
const TRIES_MAX = 30;

/**
 * Does `work` again while a dependency is away, with growing, random waits. Ends early when `signal` is aborted. Throws
 * the last `TransientError` at the bound, and anything else at once.
 */
export async function retryTransient<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof TransientError) || tries === TRIES_MAX || signal.aborted) throw error;
      const longest = Math.min(WAIT_MS_MIN * 2 ** tries, WAIT_MS_MAX);
      await delay(longest * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => undefined);
    }
  }
}
