import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { waitFor } from '../../services/standalone/processes.ts';
import { findProjectRoot } from '../../shared/tools/project-root.ts';
import { startService, type TestService } from '../../test/support/service.ts';

/** Credits for one file; no pair is estimated at more. */
const CREDITS_PER_FILE = 1_000;
const COMMAND_LIMIT_MS = 10 * 60_000;
/** A report of thousands of findings. */
const OUTPUT_BYTES_MAX = 64 * 2 ** 20;
/** Sources are removed within seconds after a job's end. */
const CLEAN_LIMIT_MS = 60_000;

const auditReport = z.object({ ok: z.boolean(), findings: z.number() });

/** A service on data and temporary folders of its own, with credits for so many files. */
export class OwnService {
  readonly service: TestService;
  readonly #folder: string;
  #stopped: Promise<readonly string[]> | undefined;
  private constructor(service: TestService, folder: string) {
    this.service = service;
    this.#folder = folder;
  }

  /** Starts it from `dist/`; `environment` may hold settings for it. */
  static async start(files: number, settings: Readonly<Record<string, string>>): Promise<OwnService> {
    const folder = await mkdtemp(join(tmpdir(), 'soak-'));
    // Jobs run as other users, who walk through it.
    await chmod(folder, 0o711);
    const temporary = await mkdtemp(join(folder, 'tmp-'));
    await chmod(temporary, 0o1777);
    const service = await startService({ settings: { LOG_LEVEL: 'warn', TMPDIR: temporary, ...settings } });
    const own = new OwnService(service, folder);
    await own.#command('admin', ['credits', 'grant', '--org', service.organizationId, '--amount', String(files * CREDITS_PER_FILE)]);
    return own;
  }

  /** Files of sources that are still stored, when all that end have had their time to be removed. */
  async countSources(): Promise<number> {
    const folder = join(this.service.dataDir, 'objects', 'source');
    const count = async (): Promise<number> => (await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])).filter((entry) => entry.isFile()).length;
    await waitFor('sources to be removed', CLEAN_LIMIT_MS, async () => ((await count()) === 0 ? true : undefined)).catch(() => undefined);
    return count();
  }

  /** Runs `audit verify`. */
  async verify(): Promise<{ readonly ok: boolean; readonly findings: number }> {
    return auditReport.parse(JSON.parse(await this.#command('audit', ['verify', '--json'])));
  }

  /** Stops the service, at the first call, and answers what it left in its temporary folder. */
  stop(): Promise<readonly string[]> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<readonly string[]> {
    await this.service.stop();
    const left = await readdir(this.#folder, { recursive: true });
    await rm(this.#folder, { recursive: true, force: true });
    return left.slice(1);
  }

  async #command(name: string, args: readonly string[]): Promise<string> {
    const script = join(findProjectRoot(), `services/cli/${name}.ts`);
    const env = { ...process.env, DATA_DIR: this.service.dataDir, LOG_LEVEL: 'silent' };
    try {
      return (await promisify(execFile)(process.execPath, ['--import', 'tsx', script, ...args], { env, timeout: COMMAND_LIMIT_MS, maxBuffer: OUTPUT_BYTES_MAX })).stdout;
    } catch (error) {
      // An audit that finds something says so by its exit code, and what by its report.
      const { stdout } = error as { readonly stdout?: string };
      if (stdout === undefined || stdout === '') throw error;
      return stdout;
    }
  }
}
