import sharp from 'sharp';

/** One job and one thread a process: parallel jobs then share the processors fairly, and nothing is worth keeping. */
export function runOnOneThread(): void {
  sharp.concurrency(1);
  sharp.cache(false);
}
