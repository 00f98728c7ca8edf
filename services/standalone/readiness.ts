import { z } from 'zod';
import { waitFor } from './processes.ts';

/** The services start within seconds; a slow machine, or a log that is read again, takes longer. */
const READY_LIMIT_MS = 120_000;
/** Read models that still do not follow after this time are not waited for: an operator has to be able to act. */
const READ_MODEL_LIMIT_MS = 10_000;
/** How long one look may take, in ms. */
const LOOK_LIMIT_MS = 500;

/** Dependencies of the api that do not answer while they are held. */
const WORKERS: ReadonlySet<string> = new Set(['ledger', 'importer', 'converter']);

const notReady = z.object({ dependencies: z.record(z.string(), z.string()) });

/** What a start waits for. */
export interface AwaitedStart {
  /** Port of the api. */
  readonly port: number;
  /** True once every service has said that it is ready, or held; only that tells ours from a stranger on the same port. */
  readonly allSaidReady: () => boolean;
  /** True while any service waits for an operator's decision. */
  readonly anyIsHeld: () => boolean;
  readonly stopping: AbortSignal;
}

/**
 * Waits until the service can serve. Answers false when all but its read models is there: one that halted (D96), or is
 * filled anew from a long log, is looked at and rebuilt by commands that need the service to run.
 * @throws Error when it takes too long; the abort reason when it was told to stop.
 */
export async function untilServing(start: AwaitedStart): Promise<boolean> {
  let onlyReadModelsSinceMs: number | undefined;
  let away: readonly string[] | undefined;
  const look = async (): Promise<boolean | undefined> => {
    start.stopping.throwIfAborted();
    away = start.allSaidReady() ? await findAway(start.port) : undefined;
    if (away?.length === 0) return true;
    if (!away?.every((name) => name === 'read_model' || (start.anyIsHeld() && WORKERS.has(name)))) {
      onlyReadModelsSinceMs = undefined;
      return undefined;
    }
    onlyReadModelsSinceMs ??= performance.now();
    return performance.now() - onlyReadModelsSinceMs > READ_MODEL_LIMIT_MS ? false : undefined;
  };
  try {
    return await waitFor('the start of the services', READY_LIMIT_MS, look);
  } catch (error) {
    // Such as a bucket that nobody made: the operator has to know where to look.
    if (away === undefined || start.stopping.aborted) throw error;
    throw new Error(`${error instanceof Error ? error.message : String(error)}; still away: ${away.join(', ')}`, { cause: error });
  }
}

/** Names of the dependencies that the api misses; undefined when it does not tell. */
async function findAway(port: number): Promise<readonly string[] | undefined> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(LOOK_LIMIT_MS) });
    const text = await response.text();
    if (response.status === 200) return [];
    const { dependencies } = notReady.parse(JSON.parse(text));
    return Object.keys(dependencies).filter((name) => dependencies[name] !== 'ok');
  } catch {
    return undefined;
  }
}
