import { chmod, copyFile, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isMainArchive, PRIVATE_FOLDERS, privateSettings, writeStanza } from './apt-archive.ts';
import { readAptSources, type AptSource } from './apt-sources.ts';
import { inspectMachine } from './machine.ts';
import { runApt } from './run-apt.ts';
import { runCommand } from './run-command.ts';
import type { Say } from './step.ts';

/** Fifty megabytes of package lists over a slow line. */
const UPDATE_LIMIT_MS = 5 * 60_000;
/** 300 MB of packages over a slow line. Nothing is lost when apt is ended meanwhile. */
const DOWNLOAD_LIMIT_MS = 30 * 60_000;
/** Unpacking 400 packages takes a minute or two; a machine with a slow disk must not be cut off in the middle. */
const INSTALL_LIMIT_MS = 30 * 60_000;
/** Looking into lists that are there takes a second. */
const LOOK_LIMIT_MS = 30_000;
/** Where the machine keeps its sources. */
const APT_FOLDER = '/etc/apt';

/** A version of a package in some suite, such as `4:25.2.3-2~bpo12+1` in `bookworm-backports`. */
export interface Candidate {
  readonly version: string;
  readonly suite: string;
}

/** What is to be installed; `suite` is preferred to the machine's own where it is given. */
export interface Order {
  readonly packages: readonly string[];
  readonly suite?: string;
}

/**
 * apt with the machine's own sources and rules, but with lists and downloads in a temporary folder: what it installs is
 * installed, and nothing else of the system changes. Reading needs no root.
 */
export class Apt {
  readonly #folder: string;
  readonly #say: Say;
  private constructor(folder: string, say: Say) {
    this.#folder = folder;
    this.#say = say;
  }

  /** Reads the lists of the machine's sources. Throws Error when they cannot be read; `close` ends it. */
  static async open(say: Say): Promise<Apt> {
    const folder = await mkdtemp(join(tmpdir(), 'setup-apt-'));
    const apt = new Apt(folder, say);
    try {
      // The machine's own rules for packages (pins, proxies, keys) stay in force.
      await chmod(folder, 0o755);
      for (const name of PRIVATE_FOLDERS) await mkdir(join(folder, name), { recursive: true });
      const parts = (await readdir(join(APT_FOLDER, 'sources.list.d')).catch(() => [])).filter((name) => /\.(list|sources)$/.test(name));
      // Sources that only root may read are left out without root, as apt itself would do.
      for (const name of parts) await copyFile(join(APT_FOLDER, 'sources.list.d', name), join(folder, 'sources', name)).catch(() => undefined);
      await writeFile(join(folder, 'apt.conf'), `${privateSettings(folder).join('\n')}\n`);
      await apt.#update();
      return apt;
    } catch (error) {
      await apt.close();
      throw error;
    }
  }

  /** Adds a suite of the distribution's own archive. Throws Error when the archive has none of that name. */
  async addSuite(suite: string): Promise<void> {
    const sources = await readAptSources(APT_FOLDER);
    if (sources.some((source) => source.suites.includes(suite))) return;
    const { codename } = await inspectMachine();
    const archive = await findMainArchive(codename);
    if (archive === undefined) throw new Error('the sources of apt name no main archive');
    const file = join(this.#folder, 'sources', 'added.sources');
    await writeFile(file, writeStanza(archive, suite, archive.components));
    try {
      await this.#update();
    } catch (error) {
      // Otherwise every later look would fail on it, too.
      await rm(file);
      await this.#update();
      throw error;
    }
  }

  /** Versions of a package that may be installed, with their suites; empty when there is none. */
  async candidates(name: string): Promise<readonly Candidate[]> {
    const table = await runCommand('apt-cache', [`-c=${this.#configuration}`, 'madison', name], { limitMs: LOOK_LIMIT_MS });
    return parseMadison(table);
  }

  /** Names of the packages that installing would remove. Throws Error when it cannot be installed. */
  async wouldRemove(order: Order): Promise<readonly string[]> {
    const plan = await this.#run(['--simulate', ...installArguments(order)], LOOK_LIMIT_MS);
    return [...plan.matchAll(/^Remv (\S+)/gm)].map(([, name = '']) => name);
  }

  /** Installs packages, as root. Throws Error with what apt says. */
  async install(order: Order): Promise<void> {
    await this.#run(['--download-only', ...installArguments(order)], DOWNLOAD_LIMIT_MS);
    await this.#run(['--no-download', ...installArguments(order)], INSTALL_LIMIT_MS);
  }

  /** Removes lists and downloads. */
  async close(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #update(): Promise<void> {
    await this.#run(['update'], UPDATE_LIMIT_MS);
  }

  get #configuration(): string {
    return join(this.#folder, 'apt.conf');
  }

  #run(args: readonly string[], limitMs: number): Promise<string> {
    return runApt([`-c=${this.#configuration}`, ...args], limitMs, this.#say);
  }
}

/** The main archive that this machine is configured with; undefined when its sources name none. */
export async function findMainArchive(codename: string | undefined): Promise<AptSource | undefined> {
  return (await readAptSources(APT_FOLDER)).find((source) => isMainArchive(source, codename));
}

/** Installs packages of the machine's own archives, as root. Throws Error with what apt says. */
export async function installPackages(packages: readonly string[], say: Say): Promise<void> {
  say('reading the lists of this machine’s package archives');
  const apt = await Apt.open(say);
  try {
    say(`installing ${packages.join(', ')}`);
    await apt.install({ packages });
  } finally {
    await apt.close();
  }
}

/** The table of `apt-cache madison`: package, version, and where it is, such as `http://… bookworm/main amd64 Packages`. */
export function parseMadison(table: string): readonly Candidate[] {
  return table.split('\n').flatMap((line) => {
    const [, version = '', source = ''] = line.split('|').map((part) => part.trim());
    const suite = /^\S+ ([^\s/]+)\/\S+ \S+ Packages$/.exec(source)?.[1];
    return suite === undefined ? [] : [{ version, suite }];
  });
}

function installArguments({ packages, suite }: Order): string[] {
  return ['install', '--no-install-recommends', ...(suite === undefined ? [] : ['-t', suite]), ...packages];
}
