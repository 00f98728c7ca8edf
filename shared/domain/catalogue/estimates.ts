import type { Category } from './formats.ts';
import { MEASUREMENTS } from './measurements.ts';

/** What one typical file of a kind took, inside the engine; the median of some runs, in ms. */
export interface Measurement {
  readonly from: Category;
  readonly to: Category;
  readonly pair: string;
  readonly file: string;
  readonly median_ms: number;
}

/**
 * How many times as long as a typical file a job may take before it costs more than it holds. What takes longer still is
 * charged no more than its hold (D24); so the price of a pair is known before anything is uploaded (D25).
 */
const HEADROOM = 3;
const MINUTE_MS = 60_000;

/** Reference conversion-minutes that a job of this kind holds credits for, at least one, also where nothing was measured. */
export function minutesFor(from: Category, to: Category): number {
  const measured = MEASUREMENTS.find((measurement) => measurement.from === from && measurement.to === to);
  return Math.max(1, Math.ceil(((measured?.median_ms ?? 0) * HEADROOM) / MINUTE_MS));
}
