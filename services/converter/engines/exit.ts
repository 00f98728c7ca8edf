import { TransientError } from '../../../shared/errors/errors.ts';
import type { Exit } from '../sandbox/process.ts';
import { EngineFailure, EngineKilled, type FailureCause } from './failure.ts';

/** Signals by which the kernel ends what goes beyond its own limits; libraries abort when memory is refused to them. */
const CAUSES_OF_SIGNALS: Partial<Record<NodeJS.Signals, FailureCause>> = {
  SIGXCPU: 'timeout',
  SIGXFSZ: 'result_too_large',
  SIGABRT: 'out_of_memory',
  SIGTRAP: 'out_of_memory',
};

/**
 * Signals that come from outside: `kill -9`, the end of a container or of the machine, and the kernel's choice when all
 * the memory is gone, which may fall on anybody. A program that a file took over may pretend to one; three deaths end it.
 */
const SENT_FROM_OUTSIDE: ReadonlySet<NodeJS.Signals> = new Set(['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT']);

/** What a signal says about a conversion that it ended, for a program that runs inside the sandbox of another of ours. */
export function causeOfSignal(signal: NodeJS.Signals | null): FailureCause {
  // Nobody but the kernel kills a single process of a job, and only for want of memory.
  if (signal === 'SIGKILL') return 'out_of_memory';
  return (signal === null ? undefined : CAUSES_OF_SIGNALS[signal]) ?? 'engine_crashed';
}

/**
 * Passes when a converter ended by itself without complaint.
 * @throws EngineFailure with the cause that its end shows, EngineKilled when somebody else ended it, or the reason of
 * `signal` when it was aborted.
 */
export function checkExit(exit: Exit, signal: AbortSignal): void {
  if (exit.cause === 'aborted') signal.throwIfAborted();
  if (exit.cause === 'timeout') throw new EngineFailure('timeout');
  if (exit.cause === 'over_memory') throw new EngineFailure('out_of_memory');
  if (exit.cause === 'over_folder') throw new EngineFailure('result_too_large');
  // Nobody knows whose fault it is that a disk runs full: it is tried again, and three times at most.
  if (exit.cause === 'disk_short') throw new EngineKilled('the conversion was ended because the disk is nearly full');
  // The program never ran: too many processes, no memory, or it is being replaced. The file has no part in that.
  if (exit.cause === 'not_started') throw new TransientError('storage', 'the converter could not be started');
  if (exit.code === 0) return;
  if (exit.signal !== null && SENT_FROM_OUTSIDE.has(exit.signal)) throw new EngineKilled(`the conversion was ended by ${exit.signal}`);
  const cause = exit.signal === null ? undefined : CAUSES_OF_SIGNALS[exit.signal];
  throw new EngineFailure(cause ?? 'engine_crashed', exit.stderrTail);
}
