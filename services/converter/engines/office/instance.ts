import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Limits, JobDir } from '../../sandbox/command.ts';
import type { ConfinedProcess, Exit } from '../../sandbox/process.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { officeWorker } from './worker-program.ts';
import type { Installation } from './installation.ts';
import { writeProfile } from './profile.ts';
import { workerAnswer, type ConvertOrder, type ForgetOrder, type StartOrder, type WorkerAnswer } from './protocol.ts';

/** One LibreOffice with the worker that talks to it, in a sandbox of their own. */
export interface Instance {
  readonly folder: JobDir;
  /** Resolves when its processes are gone, for whatever reason. */
  readonly gone: Promise<Exit>;
  readonly version: string;
  /** Filters of `filters` that it has not; the component that brings them is not installed. */
  readonly missingFilters: readonly string[];
  /** Lets it do one thing; undefined when it ends before it has answered, or answers nonsense. */
  ask(order: ConvertOrder | ForgetOrder): Promise<WorkerAnswer | undefined>;
  /** Kills it and all that it started; resolves when they are gone. */
  kill(): Promise<Exit>;
  /** Kills it and removes its folder. */
  remove(): Promise<void>;
}

/**
 * A long document takes half a gigabyte, a large sheet more than one. The addresses count what is only mapped, such as
 * programs and fonts, too.
 */
const LIMITS: Limits = {
  memoryBytesMax: 2 * 1024 ** 3,
  addressBytesMax: 6 * 1024 ** 3,
  fileBytesMax: 1024 ** 3,
  // An instance may serve many jobs; each of them ends by the clock on the wall long before.
  cpuSecondsMax: 4 * 3600,
};

/** Above this share of the memory that an instance may have, whatever went wrong is for want of memory. */
const MEMORY_SHARE_FULL = 0.8;

/** Longest line of an answer; two hundred characters are usual. */
const LINE_MAX = 16_384;

/** The longest that a timer of Node can wait, milliseconds: an instance lives until it is killed. */
const FOR_EVER_MS = 2 ** 31 - 1;

/** Time in which an instance must be ready, milliseconds: usually a third of a second, on a busy machine ten. */
const START_LIMIT_MS = 60_000;

/** True when an instance had about as much memory as it may have. */
export function wasFull(memoryPeakBytes: number): boolean {
  return memoryPeakBytes > LIMITS.memoryBytesMax * MEMORY_SHARE_FULL;
}

/** What an instance should know, and whether it loads what its first document needs before it is ready. */
export type Preparation = { readonly filters: readonly string[]; readonly warmUp: boolean };

/** Starts an instance; undefined when it does not come up in time, or `signal` is aborted. */
export async function startInstance(sandbox: Sandbox, installation: Installation, preparation: Preparation, signal: AbortSignal): Promise<Instance | undefined> {
  const folder = await sandbox.openJob();
  let started: Instance | undefined;
  try {
    const order = await prepareFolder(folder, installation, preparation);
    started = await launch(sandbox, folder, installation, order, AbortSignal.any([signal, AbortSignal.timeout(START_LIMIT_MS)]));
    return started;
  } finally {
    if (started === undefined) await sandbox.closeJob(folder);
  }
}

async function launch(sandbox: Sandbox, folder: JobDir, installation: Installation, order: StartOrder, signal: AbortSignal): Promise<Instance | undefined> {
  const killer = new AbortController();
  const worker = sandbox.spawn({ program: officeWorker(installation), job: folder, limits: LIMITS, timeLimitMs: FOR_EVER_MS, signal: killer.signal });
  const kill = (): Promise<Exit> => {
    killer.abort();
    return worker.done;
  };
  const nextLine = readLines(worker.stdout);
  const onAbort = (): void => killer.abort();
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  const ready = await tell(worker, order, nextLine);
  signal.removeEventListener('abort', onAbort);
  if (ready?.kind !== 'ready' || signal.aborted) {
    await kill();
    return undefined;
  }
  return {
    folder,
    gone: worker.done,
    version: ready.version,
    missingFilters: ready.missing_filters,
    ask: (task) => tell(worker, task, nextLine),
    kill,
    remove: async () => {
      await kill();
      await sandbox.closeJob(folder);
    },
  };
}

/** The folder itself belongs to us, so that an instance can neither replace nor foresee the folders of jobs in it. */
async function prepareFolder({ path, uid }: JobDir, installation: Installation, { filters, warmUp }: Preparation): Promise<StartOrder> {
  await writeProfile(join(path, 'profile'), installation);
  await mkdir(join(path, 'temp'), { mode: 0o700 });
  if (uid !== undefined) {
    for (const folder of ['temp', 'profile', 'profile/user', 'profile/user/extensions', 'profile/user/registrymodifications.xcu']) {
      await chown(join(path, folder), uid, uid);
    }
    await chown(path, 0, uid);
    await chmod(path, 0o750);
  }
  return { soffice: installation.soffice, profile: 'profile', temp: 'temp', pipe: `office${randomBytes(8).toString('hex')}`, filters, warm_up: warmUp };
}

async function tell(worker: ConfinedProcess, order: StartOrder | ConvertOrder | ForgetOrder, nextLine: () => Promise<string | undefined>): Promise<WorkerAnswer | undefined> {
  worker.stdin.write(`${JSON.stringify(order)}\n`);
  const line = await nextLine();
  if (line === undefined) return undefined;
  try {
    return workerAnswer.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}

/** Gives one line after the other, undefined when there is none any more. What is said without being asked is dropped. */
function readLines(stream: Readable): () => Promise<string | undefined> {
  let text = '';
  let waiting: ((line: string | undefined) => void) | undefined;
  let ended = false;
  const answer = (line: string | undefined): void => {
    waiting?.(line);
    waiting = undefined;
  };
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    const end = text.indexOf('\n');
    if (end === -1 && text.length <= LINE_MAX) return;
    answer(end === -1 ? undefined : text.slice(0, Math.min(end, LINE_MAX)));
    text = '';
  });
  stream.once('close', () => {
    ended = true;
    answer(undefined);
  });
  return () => new Promise((resolve) => {
    if (ended) resolve(undefined);
    else waiting = resolve;
  });
}
