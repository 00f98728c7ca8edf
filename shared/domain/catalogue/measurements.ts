import type { Category } from './formats.ts';

/** What one typical file of a kind took, inside the engine; the median of some runs, in ms. */
export interface Measurement {
  readonly from: Category;
  readonly to: Category;
  readonly pair: string;
  readonly file: string;
  readonly median_ms: number;
}

export const MEASUREMENTS: readonly Measurement[] = [];
