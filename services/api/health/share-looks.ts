import type { DependencyState } from './dependencies.ts';

/** How long one look counts, in ms: anybody may ask, and every look goes to every dependency. */
const LOOK_COUNTS_MS = 500;

type Look = () => Promise<Readonly<Record<string, DependencyState>>>;

/** Shares one look at the dependencies among all who ask at the same time or shortly after. */
export function shareLooks(look: Look): Look {
  let shared: { readonly untilMs: number; readonly result: ReturnType<Look> } | undefined;
  return () => {
    const nowMs = performance.now();
    if (!shared || shared.untilMs <= nowMs) shared = { untilMs: nowMs + LOOK_COUNTS_MS, result: look() };
    return shared.result;
  };
}
