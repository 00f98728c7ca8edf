import { TransientError } from '../../../shared/errors/errors.ts';
import type { Exit } from '../sandbox/process.ts';
import { EngineFailure, type FailureCause } from './failure.ts';

/** Signals by which the system ends what goes beyond its limits; libraries abort when memory is refused to them. */
const CAUSES_OF_SIGNALS: Partial<Record<NodeJS.Signals, FailureCause>> = {
  SIGXCPU: 'timeout',
  SIGXFSZ: 'result_too_large',
  SIGKILL: 'out_of_memory',
  SIGABRT: 'out_of_memory',
  SIGTRAP: 'out_of_memory',
};

/**
 * Passes when a converter ended by itself without complaint.
 * @throws EngineFailure with the cause that its end shows, or the reason of `signal` when it was aborted.
 */
export function checkExit(exit: Exit, signal: AbortSignal): void {
  if (exit.cause === 'aborted') signal.throwIfAborted();
  if (exit.cause === 'timeout') throw new EngineFailure('timeout');
  // The program never ran: too many processes, no memory, or it is being replaced. The file has no part in that.
  if (exit.cause === 'not_started') throw new TransientError('storage', 'the converter could not be started');
  if (exit.code === 0) return;
  const cause = exit.signal === null ? undefined : CAUSES_OF_SIGNALS[exit.signal];
  throw new EngineFailure(cause ?? 'engine_crashed', exit.stderrTail);
}
