/** What a step of a conversion may still take when others took `spentMs`; at least 1 ms, so that its own limit ends it. */
export function timeLeft({ timeLimitMs }: { readonly timeLimitMs: number }, spentMs: number): number {
  return Math.max(1, timeLimitMs - spentMs);
}

/** Starts the clock of a conversion in several steps, one after the other; gives each the same context with what is left of the time. */
export function countDown<Context extends { readonly timeLimitMs: number }>(context: Context): () => Context {
  const startedAt = performance.now();
  return () => ({ ...context, timeLimitMs: timeLeft(context, performance.now() - startedAt) });
}
