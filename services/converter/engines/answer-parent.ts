import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { z } from 'zod';
import { EngineFailure, type FailureCause } from './failure.ts';

/** How a conversion inside a child came out; `billable_ms` is its wall time without the start of the process (D27). */
export type ConversionAnswer = { readonly kind: 'converted'; readonly billable_ms: number } | { readonly kind: 'failed'; readonly cause: FailureCause };

/** Converts, and says how long that took or why it cannot be done; what is no `EngineFailure` is thrown on. */
export async function timeConversion(convert: () => Promise<void>): Promise<ConversionAnswer> {
  const startedAt = performance.now();
  try {
    await convert();
    return { kind: 'converted', billable_ms: Math.ceil(performance.now() - startedAt) };
  } catch (error) {
    if (error instanceof EngineFailure) return { kind: 'failed', cause: error.code };
    throw error;
  }
}

/** The child's side of `askChild`: reads one task from stdin, writes one answer to stdout, and ends the process. */
export async function answerParent<Task>(task: z.ZodType<Task>, answer: (asked: Task) => Promise<unknown>): Promise<void> {
  const input = createInterface({ input: process.stdin });
  const [line] = (await once(input, 'line')) as [string];
  // The parent keeps our input open while it waits; its end means that nobody wants the result any more.
  input.once('close', () => process.exit(1));
  const result = await answer(task.parse(JSON.parse(line)));
  process.stdout.write(JSON.stringify(result), () => process.exit(0));
}
