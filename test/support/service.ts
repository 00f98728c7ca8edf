import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readDemo } from '../../services/standalone/demo.ts';
import { waitFor } from '../../services/standalone/processes.ts';
import { keepTail } from '../../services/standalone/text-tail.ts';
import { demoFilePath } from '../../services/standalone/welcome.ts';
import { findService, type ServiceAddresses } from '../../shared/config/find-service.ts';
import { readRunFile } from '../../shared/config/run-file.ts';
import { findProjectRoot } from '../../shared/tools/project-root.ts';
import { descendantsOf, killIfThere, listProcesses } from './process-tree.ts';
import { GIVEN_BUCKET } from './stored-files.ts';

/** The whole service starts within ten seconds; a busy machine takes longer. */
const START_LIMIT_MS = 90_000;
/** The service promises 20 s for an orderly stop. */
const STOP_LIMIT_MS = 25_000;
/** A process that was killed is started again within seconds. */
const READY_LIMIT_MS = 60_000;
/** `/readyz` may answer with what it saw up to half a second ago, when the process just killed was still there. */
const STALE_LOOK_MS = 600;

/** Tests ask more often than clients; whoever tests the limits of requests sets them. */
export const NO_LIMITS: Readonly<Record<string, string>> = Object.fromEntries(['RATE_LIMIT_CREATE_FREE', 'RATE_LIMIT_CREATE_ACTIVE', 'RATE_LIMIT_OTHER', 'IP_FAILURE_LIMIT'].map((name) => [name, '1000000000']));

/** Part of the service that can be killed, by what its command line holds. */
const COMMANDS = {
  api: 'services/api/main.js',
  importer: 'services/importer/main.js',
  converter: 'services/converter/main.js',
  ledger: 'services/ledger/main.js',
  projections: 'projections/main.js',
  'nats-server': 'nats-server.conf',
  postgres: 'postgres/data',
} as const;

/** Name of a process of the service. */
export type ProcessName = keyof typeof COMMANDS;

/** The whole service, running from `dist/` on a data folder of its own. */
export interface TestService {
  /** Of the process that keeps all others running. */
  readonly pid: number;
  /** Without `/v1`. */
  readonly baseUrl: string;
  readonly organizationId: string;
  readonly liveKey: string;
  readonly testKey: string;
  readonly dataDir: string;
  readonly addresses: ServiceAddresses;
  /** Process id now; undefined while it is not running. */
  pidOf(name: ProcessName): number | undefined;
  /** Sends a signal, -9 unless told otherwise, to one process; the service starts it again. */
  kill(name: ProcessName, signal?: NodeJS.Signals): void;
  /** Waits until `/readyz` answers 200 from a look that began after the call. */
  untilReady(): Promise<void>;
  /** What it said last. */
  output(): string;
  /** kill -9 for all its processes at once, as when the power fails; the data stay. */
  cutPower(): Promise<void>;
  /** Ends everything in order and keeps the data; the exit code. */
  end(): Promise<number | null>;
  /** Ends everything in order and removes the data; the exit code. */
  stop(): Promise<number | null>;
}

/** How a service is started: settings by their environment variables, and the data of an earlier run. */
export interface ServiceOptions {
  /** Folder of an earlier run that was ended or cut off. */
  readonly dataDir?: string;
  readonly settings?: Readonly<Record<string, string>>;
  /** Told everything it says; `output()` keeps the end alone. */
  readonly onOutput?: (text: string) => void;
}

/** Starts the standalone edition, which must be built, and returns when it is ready. */
export async function startService(options: ServiceOptions = {}): Promise<TestService> {
  const root = findProjectRoot();
  const main = join(root, 'dist/services/standalone/main.js');
  if (!existsSync(main)) throw new Error('dist/ is missing; run npm run build');
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'test-service-')));
  // As root, Postgres runs as another user, who must get to its data.
  await chmod(dataDir, 0o711);
  const { PATH = '', HOME = '', NATS_SERVER_BIN = '' } = process.env;
  const environment = { PATH, HOME, NATS_SERVER_BIN, DATA_DIR: dataDir, PORT: '0', ...NO_LIMITS, ...GIVEN_BUCKET, ...options.settings };
  const child = spawn(process.execPath, [main], { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  const tails = [keepTail(child.stdout), keepTail(child.stderr)];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: string) => options.onOutput?.(text));
  const output = (): string => tails.map((tail) => tail()).join('\n');
  const closed = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  try {
    await waitFor('the start of the service', START_LIMIT_MS, () => {
      if (child.exitCode !== null) throw new Error('the service ended while starting');
      return readRunFile(dataDir)?.pid === child.pid || undefined;
    });
  } catch (error) {
    child.kill('SIGKILL');
    throw new Error(`the service did not start:\n${output()}`, { cause: error });
  }
  return describe(child, closed, dataDir, output);
}

function describe(child: ChildProcess, closed: Promise<number | null>, dataDir: string, output: () => string): TestService {
  const demo = readDemo(demoFilePath(dataDir));
  if (!demo) throw new Error('the service made no demo organization');
  const baseUrl = demo.base_url.replace(/\/v1$/, '');
  const addresses = findService({ DATA_DIR: dataDir });
  const pidOf = (name: ProcessName): number | undefined => findChild(child.pid ?? 0, COMMANDS[name]);
  const end = async (): Promise<number | null> => {
    const cutOff = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
    child.kill('SIGTERM');
    const code = await closed;
    clearTimeout(cutOff);
    return code;
  };
  return {
    pid: child.pid ?? 0,
    baseUrl,
    organizationId: demo.organization_id,
    liveKey: demo.live_key,
    testKey: demo.test_key,
    dataDir,
    addresses,
    pidOf,
    kill(name, signal = 'SIGKILL') {
      const pid = pidOf(name);
      if (pid === undefined) throw new Error(`${name} is not running`);
      process.kill(pid, signal);
    },
    async untilReady() {
      const calledMs = performance.now();
      await waitFor('readiness', READY_LIMIT_MS, async () => {
        const isFresh = performance.now() - calledMs > STALE_LOOK_MS;
        return (await isReady(baseUrl)) && isFresh ? true : undefined;
      });
    },
    output,
    async cutPower() {
      // The children first: their parent would not get to act on their end, and they do not get to act on its end.
      for (const { pid } of descendantsOf(child.pid ?? 0)) killIfThere(pid);
      child.kill('SIGKILL');
      await closed;
    },
    end,
    async stop() {
      const code = await end();
      await rm(dataDir, { recursive: true, force: true });
      return code;
    },
  };
}

async function isReady(baseUrl: string): Promise<true | undefined> {
  const response = await fetch(`${baseUrl}/readyz`).catch(() => undefined);
  await response?.arrayBuffer();
  return response?.status === 200 ? true : undefined;
}

function findChild(parentPid: number, mark: string): number | undefined {
  return listProcesses().find(({ ppid, command }) => ppid === parentPid && command.includes(mark))?.pid;
}

/** Largest upload to the shared service: above every real file of the tests, small enough to be exceeded. */
export const SHARED_UPLOAD_BYTES_MAX = 4 * 2 ** 20;

let shared: Promise<TestService> | undefined;

// A hook of the root suite: the shared service ends with the last test, so that mocha can exit by itself.
if (typeof after === 'function') {
  after(async function stopShared() {
    this.timeout(STOP_LIMIT_MS + 5_000);
    const started = shared;
    shared = undefined;
    await (await started?.catch(() => undefined))?.stop();
  });
}

/** One service for all test files of this process; each test takes an organization of its own. */
export function sharedService(): Promise<TestService> {
  shared ??= startService({ settings: { LOG_LEVEL: 'warn', SINGLE_UPLOAD_MAX_BYTES: String(SHARED_UPLOAD_BYTES_MAX), DURABILITY_CHECK: 'refuse' } });
  return shared;
}
