import { EXIT_BAD_CONFIGURATION, type Environment } from '../../shared/config/load.ts';
import { ConfigurationError } from '../../shared/errors/errors.ts';
import { readStandaloneConfig } from './config.ts';
import { startEdition } from './edition.ts';
import { createProgress } from './progress.ts';
import type { ServicePlan } from './services.ts';

/**
 * A step of the start that is under way when we are told to stop gets so long to end, before its work is undone: a
 * first Postgres is not left half made. Once the services are there the start ends at once, so 20 s are kept.
 */
const START_SETTLES_MS = 10_000;

/**
 * Runs everything on this machine until SIGTERM or SIGINT, then ends it in order and exits: 0 when told to stop, 78 on
 * bad configuration, 1 when it cannot start. SIGHUP is left alone, so that `nohup` works.
 */
export function runEdition(environment: Environment, services: readonly ServicePlan[]): void {
  const progress = createProgress((text) => process.stdout.write(text));
  const stopping = new AbortController();
  const undoes: (() => Promise<void> | void)[] = [];

  // npm and the terminal may both signal: only the first counts.
  const end = async (why: string, exitCode: number): Promise<void> => {
    if (stopping.signal.aborted) return;
    stopping.abort(new Error(why));
    progress.say(`Stopping: ${why}`);
    await Promise.race([started.catch(() => undefined), new Promise((resolve) => setTimeout(resolve, START_SETTLES_MS))]);
    for (let undo = undoes.pop(); undo !== undefined; undo = undoes.pop()) {
      try {
        await undo();
      } catch (error) {
        progress.say(`While stopping: ${String(error)}`);
      }
    }
    progress.say('Stopped');
    process.exit(exitCode);
  };

  process.on('SIGTERM', () => void end('SIGTERM', 0));
  process.on('SIGINT', () => void end('SIGINT', 0));
  // A reader of our output that is gone must not end us half way through an orderly stop.
  process.stdout.on('error', () => undefined);
  process.stderr.on('error', () => undefined);

  const started = (async (): Promise<void> => {
    await startEdition(readStandaloneConfig(environment), {
      progress,
      services,
      stopping: stopping.signal,
      onStop: (undo) => void undoes.push(undo),
      onBadConfiguration: (service) => void end(`${service} refuses its configuration, see above`, EXIT_BAD_CONFIGURATION),
    });
  })();
  started.catch((error: unknown) => {
    if (stopping.signal.aborted) return;
    process.stderr.write(`${explain(error)}\n`);
    void end('it could not start', error instanceof ConfigurationError ? EXIT_BAD_CONFIGURATION : 1);
  });
}

function explain(error: unknown): string {
  if (error instanceof ConfigurationError) return error.problems.join('\n');
  return error instanceof Error ? error.message : String(error);
}
