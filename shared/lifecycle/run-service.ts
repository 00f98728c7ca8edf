import { EXIT_BAD_CONFIGURATION } from '../config/load.ts';
import { ConfigurationError } from '../errors/errors.ts';
import type { Logger } from '../log/log.ts';
import { tellParent } from './tell-parent.ts';

/** How long a process may take to stop before it ends itself, in ms; the whole service has 20 s. */
const STOP_MS_MAX = 15_000;

/** Something that was started and must be stopped; stopped in the opposite order of starting. */
export type Stoppable = { readonly name: string; readonly stop: () => Promise<void> | void };

/** Collects what a service started, so that a failure half-way stops all of it. */
export class Cleanup {
  readonly #parts: Stoppable[] = [];

  /** Registers a part; it is stopped before everything that was registered earlier. */
  add(name: string, stop: Stoppable['stop']): void {
    this.#parts.push({ name, stop });
  }

  /** Stops all parts, last started first; a part that fails is logged and does not keep the others from stopping. */
  async run(logger: Logger): Promise<void> {
    for (let part = this.#parts.pop(); part; part = this.#parts.pop()) {
      try {
        await part.stop();
      } catch (error) {
        logger.error({ err: error, part: part.name }, 'did not stop cleanly');
      }
    }
  }
}

/**
 * Runs a service until SIGTERM, SIGINT, or the end of the process that started it (its IPC channel closes). `start`
 * registers what it starts with the cleanup. Exits 0 after a clean stop, 78 on bad configuration, 1 on anything else.
 */
export async function runService(makeLogger: () => Logger, start: (cleanup: Cleanup, logger: Logger) => Promise<void>): Promise<void> {
  const cleanup = new Cleanup();
  let logger: Logger | undefined;
  let stopping = false;
  const stop = async (why: string, exitCode: number): Promise<void> => {
    if (stopping) return;
    stopping = true;
    logger?.info({ why }, 'stopping');
    setTimeout(() => process.exit(1), STOP_MS_MAX).unref();
    if (logger) await cleanup.run(logger);
    logger?.info('stopped');
    process.exit(exitCode);
  };
  // Not once: a second signal (a terminal and npm may both send one) must not cut the orderly stop short.
  process.on('SIGTERM', () => void stop('SIGTERM', 0));
  process.on('SIGINT', () => void stop('SIGINT', 0));
  process.on('disconnect', () => void stop('the process that started this one is gone', 0));
  process.on('uncaughtException', (error) => {
    logger?.fatal({ err: error }, 'uncaught exception');
    void stop('uncaught exception', 1);
  });
  try {
    logger = makeLogger();
    await start(cleanup, logger);
    tellParent('ready');
    logger.info('ready');
  } catch (error) {
    if (error instanceof ConfigurationError) process.stderr.write(`${error.problems.join('\n')}\n`);
    else if (logger) logger.fatal({ err: error }, 'could not start');
    else process.stderr.write(`${String(error)}\n`);
    await stop('could not start', error instanceof ConfigurationError ? EXIT_BAD_CONFIGURATION : 1);
  }
}
