import { appendFile } from 'node:fs/promises';
import type { Pair } from '../../../shared/domain/catalogue/pairs.ts';
import type { Quality } from './quality.ts';

/** File to which each measured pair is appended as a line of JSON; `npm run test:engines -- --record` sets it. */
const QUALITY_FILE = process.env['QUALITY_FILE'];

/** Keeps what was measured about a pair when somebody wants to record it; `billableMs` in milliseconds. */
export async function recordQuality({ input, output }: Pair, sample: string, billableMs: number, quality: Quality): Promise<void> {
  if (QUALITY_FILE === undefined) return;
  await appendFile(QUALITY_FILE, `${JSON.stringify({ input, output, sample, billable_ms: Math.round(billableMs), ...quality })}\n`);
}
