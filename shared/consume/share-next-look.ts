/**
 * Shares looks at something among all who ask at the same time. Whoever asks gets a look that began after the question,
 * so it never answers with what was before; however many ask, one look is under way and one more waits for it.
 */
export function shareNextLook<T>(look: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  const begin = (): Promise<T> => {
    const begun = look().finally(() => {
      if (running === begun) running = undefined;
    });
    running = begun;
    return begun;
  };
  return () => {
    if (next) return next;
    if (!running) return begin();
    const after = running.then(() => undefined, () => undefined);
    next = after.then(() => {
      next = undefined;
      return begin();
    });
    return next;
  };
}
