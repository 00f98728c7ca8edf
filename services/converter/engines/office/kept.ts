import type { Instance } from './instance.ts';

/**
 * Values of `CONVERTER_ISOLATION`. `strict`: an instance serves one job and is ended. `shared`: it serves further jobs
 * of the same organization.
 */
export type Isolation = 'strict' | 'shared';

/** What the keeper knows about an instance. */
export interface Kept {
  readonly instance: Instance;
  /** Whose files it has seen; undefined when none. */
  organizationId: string | undefined;
  busy: boolean;
  /** Jobs that it has served. */
  jobs: number;
  /** What it had in memory after the last one. */
  memoryBytes: number;
  /** On the clock of `performance.now()`, milliseconds. */
  readonly startedAt: number;
}

/** Jobs after which an instance is replaced: what leaks in the suite stays small. */
const JOBS_MAX = 100;
/** Memory beyond which it is replaced, bytes: two hundred ordinary documents stay at half of it. */
const MEMORY_BYTES_MAX = 600 * 1024 ** 2;
/** Age at which it is replaced, milliseconds: far below the longest timer that Node knows. */
const AGE_MAX_MS = 7 * 24 * 3_600_000;

/** Whether an instance may have a further job of the organization whose files it has seen. */
export function mayServe(kept: Kept, isolation: Isolation): boolean {
  if (kept.jobs >= (isolation === 'strict' ? 1 : JOBS_MAX) || kept.memoryBytes > MEMORY_BYTES_MAX) return false;
  return performance.now() - kept.startedAt < AGE_MAX_MS;
}
