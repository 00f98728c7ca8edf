import { setTimeout as sleep } from 'node:timers/promises';
import type { RunEnd, ServerRun } from './server-run.ts';

/** The pause before the first restart; it doubles with every end that follows soon. */
const FIRST_PAUSE_MS = 200;
/** Longest pause, so that a dependency that comes back is used again soon. */
const LONGEST_PAUSE_MS = 10_000;
/** What ran for so long had started well; its next end begins with the short pause again. */
const STEADY_MS = 30_000;

/** Something that shall always run. */
export interface KeptTask<Run extends ServerRun> {
  readonly name: string;
  /** Starts it once and returns when it runs; may throw. */
  readonly launch: () => Promise<Run>;
  readonly say: (line: string) => void;
  /** True for an end after which a restart can only end the same way; `onHopeless` is called and it stays down. */
  readonly isHopeless?: (end: RunEnd) => boolean;
  readonly onHopeless?: (end: RunEnd) => void;
}

/** A task that is being kept running. */
export interface Kept<Run extends ServerRun> {
  /** The run of now; after a restart another one. */
  current(): Run;
  /** Ends the run, or the pause before the next one, for good. */
  stop(): Promise<void>;
}

/**
 * Starts the task and starts it again whenever it ends, after a pause that grows and varies by chance, so that several
 * that fell together do not rise together.
 * @throws what the first launch throws.
 */
export async function keepRunning<Run extends ServerRun>(task: KeptTask<Run>): Promise<Kept<Run>> {
  const stopping = new AbortController();
  let run = await task.launch();
  const watch = async (): Promise<void> => {
    for (let failures = 0; ; ) {
      const startedMs = performance.now();
      const end = await run.exited;
      if (stopping.signal.aborted) return;
      if (task.isHopeless?.(end) === true) return task.onHopeless?.(end);
      failures = performance.now() - startedMs > STEADY_MS ? 1 : failures + 1;
      task.say(`${task.name} ended (${end.description})`);
      const next = await relaunch(task, failures, stopping.signal);
      if (next === undefined) return;
      run = next;
      if (stopping.signal.aborted) return run.stop();
    }
  };
  const watched = watch();
  return {
    current: () => run,
    stop: async () => {
      stopping.abort();
      await run.stop();
      await watched;
    },
  };
}

/** Tries until it runs; undefined when it was stopped meanwhile. */
async function relaunch<Run extends ServerRun>(task: KeptTask<Run>, failures: number, signal: AbortSignal): Promise<Run | undefined> {
  for (let attempt = failures; ; attempt += 1) {
    const pauseMs = chooseRestartPause(attempt, Math.random());
    task.say(`${task.name} starts again in ${(pauseMs / 1000).toFixed(1)} s`);
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return undefined;
    try {
      return await task.launch();
    } catch (error) {
      task.say(`${task.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

/** Pause in ms before a restart after so many ends in a row (1, 2, ...); `chance` in [0, 1) takes up to half off. */
export function chooseRestartPause(failures: number, chance: number): number {
  return Math.round(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1)) * (1 - chance / 2));
}
