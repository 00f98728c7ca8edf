/** Bounds of one outbound request, redirects included. Times are in ms. */
export type EgressLimits = {
  /** To look a host up, and as long again to connect and shake hands with it, for each hop. */
  readonly connectMs: number;
  /** From the request to the whole head of the answer, for each hop. */
  readonly headMs: number;
  /** Without a byte of the body. */
  readonly idleMs: number;
  /** Slowest body, counted over the time spent waiting for the far side, once that is longer than `idleMs`. */
  readonly bytesPerSecondMin: number;
  /** Everything together. */
  readonly totalMs: number;
};

/** A far side that is slower holds a place that others wait for; files of 1 GB from a usual server pass. */
export const EGRESS_LIMITS: EgressLimits = { connectMs: 5_000, headMs: 10_000, idleMs: 10_000, bytesPerSecondMin: 10_000, totalMs: 300_000 };

/** Largest head of an answer, in bytes; usual ones have less than a tenth. */
export const HEAD_BYTES_MAX = 16_384;
/** Interim answers (1xx) before the real one; usual servers send at most one. */
export const INTERIM_ANSWERS_MAX = 20;
/** Redirects that are followed (§8); the next one fails. */
export const REDIRECTS_MAX = 3;
/** Addresses of a host that are tried one after another; more would not fit into `connectMs`. */
export const ADDRESSES_TRIED_MAX = 4;
