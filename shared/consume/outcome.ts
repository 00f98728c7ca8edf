/** What became of a message: finished with, to be looked at again later, or given up and kept for a person. */
export type Outcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'later'; readonly delayMs: number }
  | { readonly kind: 'park'; readonly reason: string };

/** The effect is durable, or there was nothing left to do. */
export const DONE: Outcome = { kind: 'done' };

/** Deliver again after `delayMs`; not a failure. */
export function later(delayMs: number): Outcome {
  return { kind: 'later', delayMs };
}
