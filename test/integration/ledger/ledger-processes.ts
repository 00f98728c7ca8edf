import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '../../../services/standalone/processes.ts';
import { isLedgerReady } from '../../../shared/ledger-client/ledger-client.ts';
import { findProjectRoot } from '../../../shared/tools/project-root.ts';
import { vouchForLog } from '../../support/vouch-for-log.ts';
import { World } from './world.ts';

/** How long a ledger may take to start from its sources on a busy machine, in ms. */
const STARTS_MS_MAX = 20_000;

/** A server of a test and ledgers that run as processes of their own, all with one data folder. */
export class LedgerProcesses {
  readonly world: World;
  readonly #running = new Set<ChildProcess>();
  readonly #dataFolder: string;

  private constructor(world: World, dataFolder: string) {
    this.world = world;
    this.#dataFolder = dataFolder;
  }

  /** Starts the server, and no ledger yet. */
  static async open(): Promise<LedgerProcesses> {
    const world = await World.start();
    vouchForLog(world.nc);
    return new LedgerProcesses(world, await mkdtemp(join(tmpdir(), 'test-ledger-')));
  }

  /** Starts one with nothing in its environment but this. */
  spawn(environment: Record<string, string>): ChildProcess {
    const options = { cwd: findProjectRoot(), env: { ...environment, LOG_LEVEL: 'error' } };
    const child = spawn(process.execPath, ['--import', 'tsx', 'services/ledger/main.ts'], { ...options, stdio: ['ignore', 'ignore', 'pipe'] });
    this.#running.add(child);
    child.once('exit', () => this.#running.delete(child));
    return child;
  }

  /** Starts one on the server and waits until it answers. */
  async startReady(): Promise<ChildProcess> {
    const child = this.spawn({ NATS_URL: this.world.server.url, NATS_MONITOR_URL: this.world.server.monitorUrl, DATA_DIR: this.#dataFolder });
    await waitFor('a ledger', STARTS_MS_MAX, async () => ((await isLedgerReady(this.world.nc)) ? true : undefined));
    return child;
  }

  /** Ends all that still run and the server, and removes their folder. */
  async stop(): Promise<void> {
    for (const child of this.#running) await endProcess(child, 'SIGKILL');
    await rm(this.#dataFolder, { recursive: true, force: true });
    await this.world.stop();
  }
}

/** Ends a process and answers its exit code, null when the signal ended it. */
export async function endProcess(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
  return child.exitCode;
}
