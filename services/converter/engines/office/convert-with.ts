import { randomBytes } from 'node:crypto';
import { constants } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { TransientError } from '../../../../shared/errors/errors.ts';
import type { Exit } from '../../sandbox/process.ts';
import type { ConversionContext } from '../engine.ts';
import { checkExit } from '../exit.ts';
import { EngineFailure, type FailureCause } from '../failure.ts';
import { handOver } from './hand-over.ts';
import { wasFull, type Instance } from './instance.ts';
import type { Isolation } from './kept.ts';
import type { OfficeTask } from './pool.ts';
import type { ConvertOrder, WorkerAnswer } from './protocol.ts';

/** Pages of the longest document that is converted. */
const PAGES_MAX = 10_000;

/** Time in which an instance that stopped talking is gone by itself, and one that works has removed a folder, milliseconds. */
const GONE_MS = 2_000;

/** A document that was converted; its result lies in the job's folder. */
export interface Converted {
  readonly billableMs: number;
  /** What the instance has in memory now; undefined when it is not fit for another job. */
  readonly memoryBytes: number | undefined;
}

/**
 * Converts one document in an instance that nobody else uses meanwhile. Under `strict` the instance is dead when its
 * result is looked at.
 * @throws what `OfficePool.convert` throws; the instance may then not be used any more.
 */
export async function convertWith(instance: Instance, task: OfficeTask, context: Pick<ConversionContext, 'signal' | 'timeLimitMs'>, isolation: Isolation): Promise<Converted> {
  const folder = randomBytes(8).toString('hex');
  const handed = await handOver(instance.folder, folder, task.job, task.source).catch(refuseHandOver);
  try {
    const startedAt = performance.now();
    const answer = await askInTime(instance, orderOf(task, folder), context);
    const billableMs = Math.ceil(performance.now() - startedAt);
    if (answer?.kind !== 'converted') return await explain(answer, instance, task, context.signal);
    if (isolation === 'strict') await instance.kill();
    await handed.takeBack(task.result);
    const forgotten = isolation === 'shared' && (await within(GONE_MS, instance.ask({ kind: 'forget', folder })))?.kind === 'forgotten';
    return { billableMs, memoryBytes: forgotten ? answer.memory_bytes : undefined };
  } finally {
    await handed.close();
  }
}

async function askInTime(instance: Instance, order: ConvertOrder, { signal, timeLimitMs }: Pick<ConversionContext, 'signal' | 'timeLimitMs'>): Promise<WorkerAnswer | undefined> {
  let late = false;
  const onAbort = (): void => void instance.kill();
  const timer = setTimeout(() => {
    late = true;
    onAbort();
  }, timeLimitMs);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    signal.throwIfAborted();
    const answer = await instance.ask(order);
    signal.throwIfAborted();
    if (late) throw new EngineFailure('timeout');
    return answer;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

/** A full disk, or too many open files, is no fault of the job. */
function refuseHandOver(cause: unknown): never {
  if (cause instanceof EngineFailure) throw cause;
  throw new TransientError('storage', 'a document could not be handed to the office suite', { cause });
}

/** What a promise gives in so many milliseconds, else undefined. */
async function within<Value>(milliseconds: number, promise: Promise<Value>): Promise<Value | undefined> {
  const released = new AbortController();
  const late = delay(milliseconds, undefined, { signal: released.signal, ref: false }).catch(() => undefined);
  try {
    return await Promise.race([promise, late]);
  } finally {
    released.abort();
  }
}

/** Throws why there is no result. */
async function explain(answer: WorkerAnswer | undefined, instance: Instance, task: OfficeTask, signal: AbortSignal): Promise<never> {
  if (answer?.kind === 'failed') throw new EngineFailure(causeOf(answer, task), answer.detail);
  if (answer?.kind === 'died' && answer.returncode !== null) checkExit(exitOf(answer.returncode), signal);
  if (answer === undefined) {
    // How it ended is only told to those who do not kill it.
    const gone = await within(GONE_MS, instance.gone);
    if (gone !== undefined) checkExit(gone, signal);
  }
  throw new EngineFailure('engine_crashed', 'it did not answer');
}

function causeOf({ cause, memory_peak_bytes }: Extract<WorkerAnswer, { kind: 'failed' }>, task: OfficeTask): FailureCause {
  switch (cause) {
    case 'password':
      return task.password === undefined ? 'password_required' : 'wrong_password';
    case 'too_many_pages':
    case 'page_not_found':
    case 'sheet_not_found':
      return cause;
    case 'damaged':
    case 'not_stored':
      if (wasFull(memory_peak_bytes)) return 'out_of_memory';
      return cause === 'damaged' ? 'damaged' : 'engine_crashed';
  }
}

/** Python tells death by a signal as a negative number. */
function exitOf(returncode: number): Exit {
  const signal = Object.entries(constants.signals).find(([, number]) => number === -returncode)?.[0] as NodeJS.Signals | undefined;
  return { cause: 'exited', code: returncode < 0 ? null : returncode, signal: signal ?? null, stderrTail: `the suite ended with ${returncode}` };
}

function orderOf(task: OfficeTask, folder: string): ConvertOrder {
  return {
    kind: 'convert',
    folder,
    source: task.source,
    result: task.result,
    import_filter: task.importFilter,
    export_filter: task.exportFilter,
    ...(task.countPages === true || task.pageRanges !== undefined ? { pages_max: PAGES_MAX } : {}),
    ...(task.importOptions === undefined ? {} : { import_options: task.importOptions }),
    ...(task.password === undefined ? {} : { password: task.password }),
    ...(task.exportOptions === undefined ? {} : { export_options: task.exportOptions }),
    ...(task.exportData === undefined ? {} : { export_data: task.exportData }),
    ...(task.resultPassword === undefined ? {} : { result_password: task.resultPassword }),
    ...(task.pageStyle === undefined ? {} : { page_style: task.pageStyle }),
    ...(task.pageRanges === undefined ? {} : { page_ranges: task.pageRanges }),
    ...(task.sheet === undefined ? {} : { sheet: task.sheet }),
  };
}
