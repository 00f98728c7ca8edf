import type { JobDir } from '../../../sandbox/command.ts';
import type { ConversionContext } from '../../engine.ts';
import { EngineFailure } from '../../failure.ts';
import { askChild } from '../../run.ts';
import { textAnswer, type TextTask } from './task.ts';

/** Memory of our own program: a source, its characters, and the result, at their largest. */
const MEMORY_BYTES_MAX = 2 * 1024 ** 3;

/** Largest file that our own program writes; pages with their pictures, twice. */
const FILE_BYTES_MAX = 256 * 1024 * 1024;

/** One thread that converts, and those that clean up behind it. */
const BUSY_THREADS = 2;

const BOUNDS = { limits: { memoryBytesMax: MEMORY_BYTES_MAX, fileBytesMax: FILE_BYTES_MAX }, busyThreads: BUSY_THREADS } as const;

/**
 * Runs our own program for texts once, in a job's folder.
 * @returns wall time of the conversion itself (D27), milliseconds
 * @throws EngineFailure, EngineKilled
 */
export async function runTexts(job: JobDir, task: TextTask, context: Pick<ConversionContext, 'sandbox' | 'signal' | 'timeLimitMs'>): Promise<number> {
  const answer = await askChild('services/converter/engines/office/texts/child', task, textAnswer, { job, ...BOUNDS }, context);
  if (answer.kind === 'failed') throw new EngineFailure(answer.cause);
  return answer.billable_ms;
}
